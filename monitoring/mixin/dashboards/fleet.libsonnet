// The dashboard of many servers, from the recording rules of ../rules.libsonnet alone.
local p = import 'panels.libsonnet';

{
  local config = $._config,
  local cluster = config.clusterLabel,
  local matching = '%s=~"$cluster", job=~"$job", instance=~"$instance"' % cluster,

  local rule(name, more='') = '%s{%s%s}' % [name, matching, if more == '' then '' else ', ' + more],
  local perServer(name, more='') = 'max by (%s, instance) (%s)' % [cluster, rule(name, more)],
  // The rules cluster: have such sums ready; those of the chosen servers are made here.
  local perCluster(name) = 'sum by (%s) (%s)' % [cluster, perServer(name)],
  // With those that have none, so that all of them are all servers.
  local byVerdict = '%s or label_replace(count(%s) - (sum(%s) or vector(0)), "verdict", "none", "", "")' % [byLabel('verdict', 'instance:working_set_verdict:max'), scraped, byLabel('verdict', 'instance:working_set_verdict:max')],
  local byLabel(label, name) = 'sum by (%s) (max by (%s, instance, %s) (%s))' % [label, cluster, label, rule(name, label + '!=""')],

  // A server is what instance:working_set_scraped:max has: 1 if there are figures of it.
  local scraped = perServer('instance:working_set_scraped:max'),

  // from good to bad
  local verdicts = ['keep', 'shrink', 'grow', 'exceeds memory'],
  local colors = [p.colors.good, p.colors.light, p.colors.unsure, p.colors.bad],
  local verdictLines = [p.override(verdicts[i], p.line(colors[i])) for i in std.range(0, 3)] + [p.override('none', p.line(p.colors.neutral))],
  local verdict = std.join(' + ', std.mapWithIndex(
    function(i, v) (if i == 0 then '' else '%d * ' % (i + 1)) + perServer('instance:working_set_verdict:max', 'verdict="%s"' % v), verdicts
  )),
  // What is the matter, by the values of instance:working_set_failure:max.
  local failures = [
    'none yet',
    'none: lookups are not counted',
    'none: the worker is late',
    'some figures missing: a query fails',
    'no figures: its queries fail',
    'no figures: the server hangs',
    'no figures: extension or rights missing',
    'no figures: server down, or role refused',
    'no figures: exporter or server down',
    'no figures: its exporter is down',
    'no figures: no longer asked for',
  ],
  // Tens: what is the matter; ones: the verdict.
  local state =
    local failure = '10 * min by (%s, instance) (%s)' % [cluster, rule('instance:working_set_failure:max')];
    '%s + (%s) or %s' % [failure, verdict, failure],
  local words = p.mapping(
    { [std.toString(10 * i)]: [failures[i], if i == 0 then p.colors.neutral else if i < 4 then p.colors.unsure else p.colors.bad] for i in std.range(0, 10) } +
    { [std.toString(i + 1)]: [verdicts[i], colors[i]] for i in std.range(0, 3) } +
    { [std.toString(31 + i)]: [verdicts[i] + '; some figures missing', p.colors.unsure] for i in std.range(0, 3) }
  ),

  // What is suggested, or the present size where nothing is
  local suggested = 'max by (%s, instance) (%s or on (%s, instance) %s)' % [
    cluster, rule('instance:working_set_suggested_shared_buffers_bytes:max'), cluster, rule('instance:working_set_shared_buffers_bytes:max'),
  ],

  local figure(title, description, unit, expr, defaults={}) =
    p.stat(title, description, unit, 4, 4, p.now(expr), defaults),

  local link = [{
    title: 'This server',
    targetBlank: false,
    url: '/d/%s?var-datasource=${datasource}&var-instance=${__value.raw}&${__url_time_range}' % config.serverDashboard.uid,
  }],

  local fleet = {
    title: 'Fleet',
    lines: [
      [
        p.stat(
          'Servers with figures', 'Servers that there are figures of, of those that are scraped. All else on this page is about the first; the table below says what the others lack.',
          'none', 4, 4,
          p.now('count_values("with", sum(%s)) * on () group_left (all) count_values("all", count(%s)) * on () group_left () avg(%s)' % [scraped, scraped, scraped], '{{with}} of {{all}}'),
          { thresholds: p.thresholds([{ color: p.colors.bad, value: null }, { color: p.colors.good, value: 1 }]) }, { textMode: 'name' }
        ),
        figure('Lacking', 'Sum of what each server should have beyond its shared_buffers. A server whose verdict is keep or shrink lacks nothing.',
               p.mb, p.inMB('sum(%s)' % perServer('instance:working_set_shortfall_bytes:max')), { decimals: 0 }),
        figure('Most to save', 'The largest share of query time that the suggested size of a server would have saved in the past week.',
               'percentunit', 'max(%s)' % perServer('instance:working_set_query_time_saved_ratio:max'), { decimals: 1 }),
        p.stat(
          'Verdicts', 'How many servers are told to do what about shared_buffers. None: they do not track, their worker is late, it is too early, or there are no figures of them.',
          'none', 12, 4, p.now(byVerdict, '{{verdict}}'), { decimals: 0 }, { textMode: 'value_and_name' }
        ) { fieldConfig+: { overrides: verdictLines } },
      ],
      [
        p.table(
          'All servers, worst first', 'First those that there are no figures of, with what is the matter in place of a verdict; the exporter\'s log says more. Lacks: what is suggested beyond the setting. Saves: the share of query time that the suggested size would have saved in the past week. A click on a server leads to its dashboard.', 24, 10,
          [[cluster, 'Cluster'], ['instance', 'Server']],
          [
            ['Verdict', state, { unit: 'none', mappings: words, 'custom.cellOptions': { type: 'color-text' }, 'custom.width': 275 }],
            ['Lacks', p.inMB(perServer('instance:working_set_shortfall_bytes:max')), p.cells(p.mb, 80)],
            ['Saves', perServer('instance:working_set_query_time_saved_ratio:max'), p.cells('percentunit', 80, 1)],
            ['Suggested', p.inMB(perServer('instance:working_set_suggested_shared_buffers_bytes:max')), p.cells(p.mb, 100)],
            ['shared_buffers', p.inMB(perServer('instance:working_set_shared_buffers_bytes:max')), p.cells(p.mb, 115)],
            ['Memory', p.inMB(perServer('instance:working_set_memory_limit_bytes:max')), p.cells(p.mb, 90)],
            ['Hit ratio', perServer('instance:working_set_hits_per_lookups:ratio_rate5m'), p.cells('percentunit', 75, 1)],
            ['Reads', perServer('instance:working_set_reads:rate5m'), p.cells('rps', 95, 1)],
          ],
          [p.override('Server', { links: link })],
          ['Verdict', 'Lacks']
        ),
      ],
    ],
  },

  local clusters = {
    title: 'Clusters',
    lines: [
      [
        p.table(
          'Sums by cluster', 'Sums over the servers of each that there are figures of. Memory that several servers share is counted for each of them.', 24, 6,
          [[cluster, 'Cluster']],
          [
            ['Servers', 'count by (%s) (%s)' % [cluster, scraped], p.cells('none', 90)],
            ['With figures', 'sum by (%s) (%s)' % [cluster, scraped], p.cells('none', 110)],
            ['Lacks', p.inMB(perCluster('instance:working_set_shortfall_bytes:max')), p.cells(p.mb, 110)],
            ['Suggested', p.inMB('sum by (%s) (%s)' % [cluster, suggested]), p.cells(p.mb, 110)],
            ['shared_buffers', p.inMB(perCluster('instance:working_set_shared_buffers_bytes:max')), p.cells(p.mb, 130)],
            ['Memory', p.inMB(perCluster('instance:working_set_memory_limit_bytes:max')), p.cells(p.mb, 110)],
            ['Hit ratio', '1 - %s / (%s > 0)' % [perCluster('instance:working_set_reads:rate5m'), perCluster('instance:working_set_lookups:rate5m')], p.cells('percentunit', 110, 1)],
            ['Reads', perCluster('instance:working_set_reads:rate5m'), p.cells('rps', 110, 1)],
          ],
          sortBy='Lacks'
        ),
      ],
      [
        p.timeseries(
          'The ten that lack most', 'What is suggested beyond shared_buffers. Nothing is shown of servers that lack nothing.', p.mb, 12, 9,
          [['{{%s}} {{instance}}' % cluster, p.inMB('topk(10, %s > 0)' % perServer('instance:working_set_shortfall_bytes:max'))]],
          { min: 0, decimals: 0, noValue: 'no server lacks anything' }
        ),
        p.timeseries(
          'Verdicts over time', 'How many servers are told to do what. None: there are no figures, or no verdict.', 'none', 12, 9,
          [['{{verdict}}', byVerdict]],
          {
            min: 0,
            decimals: 0,
            custom: { fillOpacity: 60, lineWidth: 1, lineInterpolation: 'stepAfter', stacking: { mode: 'normal' } },
          },
          verdictLines
        ),
      ],
    ],
  },

  grafanaDashboards+:: {
    [config.fleetDashboard.file]: p.dashboard(
      config, config.fleetDashboard, 'working_set, fleet',
      'How much cache many PostgreSQL servers need, as the extension working_set measures it. Needs the recording rules.',
      [
        p.clusterVariable(cluster, 'instance:working_set_scraped:max'),
        p.jobVariable('label_values(instance:working_set_scraped:max{%s=~"$cluster"}, job)' % cluster),
        p.instanceVariable('label_values(instance:working_set_scraped:max{%s=~"$cluster", job=~"$job"}, instance)' % cluster),
      ],
      [],
      [fleet, clusters]
    ),
  },
}
