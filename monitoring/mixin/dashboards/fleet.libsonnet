// The dashboard of many servers, from the recording rules of ../rules.libsonnet alone.
local p = import 'panels.libsonnet';

{
  local config = $._config,
  local cluster = config.clusterLabel,
  local matching = '%s=~"$cluster", job=~"$job", instance=~"$instance"' % cluster,

  local rule(name, more='') = '%s{%s%s}' % [name, matching, if more == '' then '' else ', ' + more],
  local perServer(name, more='') = 'max by (%s, instance) (%s)' % [cluster, rule(name, more)],
  // The rules cluster: have such sums ready; those of the chosen servers are made here.
  local total(name) = 'sum(%s)' % perServer(name),
  local perCluster(name) = 'sum by (%s) (%s)' % [cluster, perServer(name)],
  local byLabel(label, name) = 'sum by (%s) (max by (%s, instance, %s) (%s))' % [label, cluster, label, rule(name, label + '!=""')],

  local verdicts = ['keep', 'grow', 'shrink', 'exceeds memory'],
  local colors = [p.colors.good, p.colors.unsure, p.colors.light, p.colors.bad],
  local verdict = std.join(' + ', std.mapWithIndex(
    function(i, v) (if i == 0 then '' else '%d * ' % (i + 1)) + perServer('instance:working_set_verdict:max', 'verdict="%s"' % v), verdicts
  )),
  local words = p.mapping({ [std.toString(i + 1)]: [verdicts[i], colors[i]] for i in std.range(0, 3) }),

  local figure(title, description, unit, expr, defaults={}) =
    p.stat(title, description, unit, 4, 3, p.now(expr), { decimals: 1 } + defaults),

  // How many servers have which verdict or status: one figure for each.
  local counts(title, description, label, names, colors, expr) =
    p.stat(title, description, 'none', 12, 4, p.now(expr, '{{%s}}' % label), { decimals: 0 }, { textMode: 'value_and_name' }) {
      fieldConfig+: {
        overrides: [p.line(names[i], colors[i]) for i in std.range(0, std.length(names) - 1)],
      },
    },

  local fleet = {
    title: 'Fleet',
    lines: [
      [
        figure('Servers', 'Servers that there are figures of.', 'none', 'count(%s)' % perServer('instance:working_set_shared_buffers_bytes:max'), { decimals: 0 }),
        figure('Recommended now', 'Sum over the servers of what is recommended at the moment.', 'bytes', total('instance:working_set_recommended_cache_size_bytes:max')),
        figure('Peaks', "Sum of the servers' peaks, of the past week or of each month. They need not be at the same time: so much is enough for all, each on its own.", 'bytes', total('instance:working_set_peak_cache_size_bytes:max')),
        figure('shared_buffers', 'Sum of the settings.', 'bytes', total('instance:working_set_shared_buffers_bytes:max')),
        figure('Lacking', "Sum of what each server should have beyond its shared_buffers. A server whose verdict is keep or shrink lacks nothing.", 'bytes', total('instance:working_set_shortfall_bytes:max')),
        figure('Hit ratio', 'Share of all lookups of the last five minutes that found the page in shared buffers. Not known while nothing is looked up.', 'percentunit', '1 - %s / (%s > 0)' % [total('instance:working_set_reads:rate5m'), total('instance:working_set_lookups:rate5m')], { decimals: 2 }),
      ],
      [
        counts('Verdicts', 'How many servers are told to do what about shared_buffers.', 'verdict', verdicts, colors, byLabel('verdict', 'instance:working_set_verdict:max')),
        counts('States', 'How many recommendations are on time. Servers that do not track, or whose worker is late, have no verdict.', 'status', ['ok', 'collecting', 'stale', 'not tracking'], [p.colors.good, p.colors.light, p.colors.unsure, p.colors.bad], byLabel('status', 'instance:working_set_status:max')),
      ],
    ],
  },

  local column(name, unit, width=110) =
    p.override(name, { unit: unit, 'custom.width': width }),

  local link = [{
    title: 'This server',
    targetBlank: false,
    url: '/d/%s?var-datasource=${datasource}&var-instance=${__value.raw}&${__url_time_range}' % config.serverDashboard.uid,
  }],

  local servers = {
    title: 'Servers',
    lines: [
      [
        p.table(
          'All servers, worst first', 'What the busiest time of the past week or of each month needed, beside the setting. Lacks: what is suggested beyond the setting, or needed where memory is too small. A click on a server leads to its dashboard.', 24, 8,
          [[cluster, 'Cluster'], ['instance', 'Server']],
          [
            ['Verdict', verdict],
            ['Lacks', perServer('instance:working_set_shortfall_bytes:max')],
            ['Peak', perServer('instance:working_set_peak_cache_size_bytes:max')],
            ['Recommended now', perServer('instance:working_set_recommended_cache_size_bytes:max')],
            ['shared_buffers', perServer('instance:working_set_shared_buffers_bytes:max')],
            ['Memory', perServer('instance:working_set_memory_limit_bytes:max')],
            ['Hit ratio', perServer('instance:working_set_hits_per_lookups:ratio_rate5m')],
            ['Reads', perServer('instance:working_set_reads:rate5m')],
          ],
          [
            p.override('Server', { links: link }),
            p.override('Verdict', { unit: 'none', mappings: words, 'custom.cellOptions': { type: 'color-text' }, 'custom.width': 130 }),
            column('Lacks', 'bytes'),
            column('Peak', 'bytes'),
            column('Recommended now', 'bytes', 150),
            column('shared_buffers', 'bytes', 130),
            column('Memory', 'bytes'),
            column('Hit ratio', 'percentunit'),
            column('Reads', 'rps'),
          ],
          'Lacks', { decimals: 1 }
        ),
      ],
      [
        p.timeseries(
          'The ten that lack most', 'What is suggested beyond shared_buffers, or needed where memory is too small. Nothing is shown of servers that lack nothing.', 'bytes', 12, 9,
          [p.range('topk(10, %s > 0)' % perServer('instance:working_set_shortfall_bytes:max'), '{{%s}} {{instance}}' % cluster)],
          defaults={ min: 0, noValue: 'no server lacks anything' }, calcs=['lastNotNull', 'max'], placement='right'
        ),
        p.timeseries(
          'The ten that read most', 'Pages that clients did not find in shared buffers, in a second.', 'rps', 12, 9,
          [p.range('topk(10, %s)' % perServer('instance:working_set_reads:rate5m'), '{{%s}} {{instance}}' % cluster)],
          defaults={ min: 0 }, calcs=['lastNotNull', 'max'], placement='right'
        ),
      ],
    ],
  },

  local clusters = {
    title: 'Clusters',
    lines: [
      [
        p.table(
          'Sums by cluster', 'Sums over the servers of each. Memory that several servers share is counted for each of them.', 24, 6,
          [[cluster, 'Cluster']],
          [
            ['Servers', 'count by (%s) (%s)' % [cluster, perServer('instance:working_set_shared_buffers_bytes:max')]],
            ['Lacks', perCluster('instance:working_set_shortfall_bytes:max')],
            ['Peaks', perCluster('instance:working_set_peak_cache_size_bytes:max')],
            ['Recommended now', perCluster('instance:working_set_recommended_cache_size_bytes:max')],
            ['shared_buffers', perCluster('instance:working_set_shared_buffers_bytes:max')],
            ['Memory', perCluster('instance:working_set_memory_limit_bytes:max')],
            ['Hit ratio', '1 - %s / (%s > 0)' % [perCluster('instance:working_set_reads:rate5m'), perCluster('instance:working_set_lookups:rate5m')]],
            ['Lookups', perCluster('instance:working_set_lookups:rate5m')],
          ],
          [
            p.override('Servers', { unit: 'none', decimals: 0, 'custom.width': 110 }),
            column('Lacks', 'bytes'),
            column('Peaks', 'bytes'),
            column('Recommended now', 'bytes', 150),
            column('shared_buffers', 'bytes', 130),
            column('Memory', 'bytes'),
            column('Hit ratio', 'percentunit'),
            column('Lookups', 'ops'),
          ],
          'Lacks', { decimals: 1 }
        ),
      ],
      [
        p.timeseries(
          'Needed and given', 'Sums over the servers of the chosen clusters.', 'bytes', 12, 9,
          [
            p.range(total('instance:working_set_recommended_cache_size_bytes:max'), 'recommended now'),
            p.range(total('instance:working_set_peak_cache_size_bytes:max'), 'peaks'),
            p.range(total('instance:working_set_shared_buffers_bytes:max'), 'shared_buffers'),
          ],
          [
            p.line('recommended now', p.colors.recommended, { 'custom.fillOpacity': 12 }),
            p.line('peaks', p.colors.peak),
            p.dashed('shared_buffers', p.colors.sharedBuffers),
          ],
          { min: 0 }, ['lastNotNull', 'max']
        ),
        p.timeseries(
          'Verdicts over time', 'How many servers are told to do what.', 'none', 12, 9,
          [p.range(byLabel('verdict', 'instance:working_set_verdict:max'), '{{verdict}}')],
          [p.line(verdicts[i], colors[i]) for i in std.range(0, 3)],
          {
            min: 0,
            decimals: 0,
            custom: { fillOpacity: 60, lineWidth: 1, lineInterpolation: 'stepAfter', stacking: { mode: 'normal' } },
          }, ['lastNotNull']
        ),
      ],
    ],
  },

  grafanaDashboards+:: {
    [config.fleetDashboard.file]: p.dashboard(
      config, config.fleetDashboard, 'working_set, fleet',
      'How much cache many PostgreSQL servers need, as the extension working_set measures it. Needs the recording rules.',
      [
        p.clusterVariable(cluster, 'instance:working_set_shared_buffers_bytes:max'),
        p.jobVariable('label_values(instance:working_set_shared_buffers_bytes:max{%s=~"$cluster"}, job)' % cluster),
        p.instanceVariable('label_values(instance:working_set_shared_buffers_bytes:max{%s=~"$cluster", job=~"$job"}, instance)' % cluster),
      ],
      [],
      [fleet, servers, clusters]
    ),
  },
}
