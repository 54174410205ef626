// The dashboard of one server.
local p = import 'panels.libsonnet';

{
  local config = $._config,
  local windows = config.windows,

  local chosen = if config.selector == '' then '' else config.selector + ', ',
  local selector = chosen + '%s=~"$cluster", job=~"$job", instance=~"$instance"' % config.clusterLabel,

  local series(name, more='') = '%s{%s%s}' % [name, selector, if more == '' then '' else ', ' + more],
  // One value, whatever labels an exporter adds, so that it can be compared with others.
  local one(name, more='') = 'max(%s)' % series(name, more),
  local by(label, name) = 'max by (%s) (%s)' % [label, series(name)],
  // A figure at one size, which is a label.
  local at(label, size, figure) = 'count_values("%s", %s) * on () group_left () %s' % [label, one(size), figure],

  // The one of several series that is 1, as a number.
  local code(name, label, values) = std.join(' + ', std.mapWithIndex(
    function(i, value) (if i == 0 then '' else '%d * ' % (i + 1)) + one(name, '%s="%s"' % [label, value]), values
  )),
  local verdict = code('working_set_verdict', 'verdict', ['keep', 'grow', 'shrink', 'exceeds memory']),
  local status = code('working_set_status', 'status', ['ok', 'stale', 'collecting', 'not tracking']),
  local words(names) =
    p.mapping({ [std.toString(i + 1)]: [names[i], [p.colors.good, p.colors.unsure, p.colors.light, p.colors.bad][i]] for i in std.range(0, 3) }),
  local verdicts = words(['keep', 'grow', 'shrink', 'exceeds memory']),
  local states = words(['ok', 'stale', 'collecting', 'not tracking']),

  // Debian's exporter goes on serving its last figures when PostgreSQL does not answer.  They are
  // not the present, so that they are left out.
  local failed = 'sql_exporter_last_scrape_failed{query="working_set_tracking", %s}' % selector,
  // It is down, which for Debian's exporter its answer to Prometheus does not say.
  local scrape = '1 - max(%s) or max(up{%s})' % [failed, selector],
  local guarded(target) = if target.expr == scrape then target else target { expr: '%s unless on () %s == 1' % [super.expr, failed] },

  local optIn(file) = 'no data: this needs the opt-in collector %s' % file,

  // ---------------------------------------------------------------- summary

  local figure(title, description, unit, expr, defaults={}) = p.stat(title, description, unit, 4, 3, p.now(expr), defaults),
  local size(title, description, name, more='') = figure(title, description, p.mb, p.inMB(one(name, more)), { decimals: 0 }),
  local ratio(title, description, name) = figure(title, description, 'percentunit', one(name), { decimals: 1 }),

  local summary = {
    title: 'Summary of',
    lines: [
      [
        figure('Verdict', 'What to do about shared_buffers, by what clients waited for reads in the past week. There is none while confidence is low.',
               'none', verdict, { mappings: verdicts }),
        size('Suggested', 'For ALTER SYSTEM SET shared_buffers; the present size if the verdict is keep.', 'working_set_suggested_shared_buffers_bytes'),
        ratio('It saves', 'Share of query time that the suggested size would have saved in the past week; below 0, that it would have cost.', 'working_set_query_time_saved_ratio'),
        ratio('Reads, of query time', 'Share of the time in which clients were active, in the past week, that they waited for reads.', 'working_set_read_time_ratio'),
        size('shared_buffers', 'The setting.', 'working_set_shared_buffers_bytes'),
        size('Memory', "What the server may use: the host's, or the limit of its control group if that is less.", 'working_set_memory_limit_bytes'),
      ],
      [
        figure('Confidence', 'Low: less than a day was seen, or what other sizes would do is not known; then no size is suggested. Medium: less than a week was seen.',
               'none', one('working_set_confidence'), { mappings: p.mapping({ '0': ['low', p.colors.unsure], '1': ['medium', p.colors.light], '2': ['high', p.colors.good] }) }),
        size('Used in 5 minutes', 'The working set: distinct pages that clients used in the last five minutes.', 'working_set_size_bytes', 'window_seconds="300"'),
        figure('Measurement', 'ok; collecting: less than a minute is known; stale: the worker is late or gone; not tracking. Not known: the server or its exporter is down.',
               'none', status, { mappings: states }),
        p.table(
          'Why', 'The reason of the recommendation. Opt-in: working_set_reason, every quarter of an hour.',
          12, 3,
          [['reason', 'Reason']], [['1', by('reason', 'working_set_reason_info')]],
          [p.override('Reason', { 'custom.cellOptions': { type: 'auto', wrapText: true } })],
          defaults={ noValue: optIn('working_set_reason') }, excluded=['Time', 'Value']
        ) + { options+: { showHeader: false, cellHeight: 'lg' } },
      ],
    ],
  },

  // ---------------------------------------------------------------- other sizes

  local predicted(name) = by('cache_size_bytes', 'working_set_predicted_' + name),
  local ofSuggested(name) =
    '%s and on (cache_size_bytes) count_values("cache_size_bytes", %s)' % [predicted(name), one('working_set_suggested_shared_buffers_bytes')],
  local filled = p.line(p.colors.size, { 'custom.fillOpacity': 12 }),
  local present = p.point(p.colors.sharedBuffers, 14),
  local suggested = p.point(p.colors.recommended, 8),
  // what is marked can be of a size of which nothing is predicted
  local betweenSizes = { spanNulls: true },
  local unreliable = 'no advice that can be relied on (yet)',

  local advice = {
    title: 'Advice: what another size would do,',
    lines: [[
      p.trend(
        'Query time for reads against shared_buffers', 'Share of query time that clients would have waited for reads with shared_buffers of other sizes in the last week, and with the present and the suggested size. This curve decides what is suggested.',
        'percentunit', 12, 9, 'cache_size_bytes', 'shared_buffers',
        [
          ['Share', predicted('read_time_ratio'), filled],
          ['Present', at('cache_size_bytes', 'working_set_shared_buffers_bytes', one('working_set_read_time_ratio')), present],
          ['Suggested', ofSuggested('read_time_ratio'), suggested],
        ],
        { min: 0, noValue: 'not known (yet)', custom: betweenSizes }
      ),
      p.trend(
        'Reads against shared_buffers', 'Pages that clients would have had to read in a second, from the page cache or from disk, with shared_buffers of other sizes in the last five minutes, and those that were measured at the present size. Where it falls steeply, memory is well spent.',
        'rps', 12, 9, 'cache_size_bytes', 'shared_buffers',
        [
          ['Reads', predicted('reads_per_second'), filled],
          ['Measured', at('cache_size_bytes', 'working_set_shared_buffers_bytes', '((1 - %s) * sum(rate(%s[5m])))' % [one('working_set_current_hit_ratio'), series('working_set_lookups_total')]), present],
          ['Suggested', ofSuggested('reads_per_second'), suggested],
        ],
        { min: 0, noValue: unreliable, custom: betweenSizes }
      ),
    ]],
  },

  local noMemoryAdvice = unreliable + '. It needs the opt-in collector working_set_memory',
  local atMemory(name) = at('memory_bytes', 'working_set_memory_limit_bytes', one(name)),
  local overMemory(name) = '0 * %s + on () group_left () %s' % [by('memory_bytes', 'working_set_memory_best_shared_buffers_bytes'), p.inMB(one(name))],

  local memory = {
    title: 'Memory: what more or less would do (opt-in: working_set_memory),',
    lines: [[
      p.trend(
        'Disk reads against memory', 'How often in a second clients would wait for the disk, by the last five minutes, with a quarter to four times the memory, best divided between shared_buffers and the page cache. "Now" has the present shared_buffers, "Suggested" the suggested ones. Where it falls steeply, memory is well spent.',
        'rps', 12, 9, 'memory_bytes', 'Memory',
        [
          ['Best division', by('memory_bytes', 'working_set_memory_predicted_disk_reads_per_second'), filled],
          ['Now', atMemory('working_set_predicted_disk_reads_per_second'), present],
          ['Suggested', atMemory('working_set_expected_disk_reads_per_second'), suggested],
        ],
        { min: 0, noValue: noMemoryAdvice }
      ),
      p.trend(
        'Best shared_buffers', 'What shared_buffers would be in the best division of so much memory. The rest, but for what all else takes, is left for the page cache.',
        p.mb, 12, 9, 'memory_bytes', 'Memory',
        [
          ['Best', p.inMB(by('memory_bytes', 'working_set_memory_best_shared_buffers_bytes')), p.line(p.colors.size)],
          ['shared_buffers', overMemory('working_set_shared_buffers_bytes'), p.dashed(p.colors.sharedBuffers)],
          ['Suggested', overMemory('working_set_suggested_shared_buffers_bytes'), p.dashed(p.colors.recommended)],
        ],
        { min: 0, decimals: 0, noValue: noMemoryAdvice }
      ),
    ]],
  },

  // ---------------------------------------------------------------- who

  local relationLabels = 'datname, relation, relkind',
  local relation(name) = by(relationLabels, 'working_set_relation_' + name),
  // Catalogs only from a megabyte on.  In another database their names are not known, but the
  // numbers of their files are small.
  local catalog = '(pg_catalog|pg_toast|information_schema)\\\\..+|file ([1-9][0-9]?[0-9]?[0-9]?|1[0-5][0-9][0-9][0-9])',
  local relationSize = 'max by (%s) (%s or %s >= 2^20)' % [
    relationLabels,
    series('working_set_relation_size_bytes', 'relation!~"%s"' % catalog),
    series('working_set_relation_size_bytes', 'relation=~"%s"' % catalog),
  ],

  // The last six digits tell queries of a server apart, and find them in pg_stat_statements.
  local queryLabels = 'datname, rolname, query',
  local query(expr) =
    'max by (%s) (label_replace(label_replace(%s, "query", "$1", "queryid", ".*?(.?.?.?.?.?.?)"), "query", "(none)", "query", ""))' % [queryLabels, expr],
  local querySize = '(%s >= 2^20)' % query(series('working_set_query_size_bytes')),
  local ofQuery(name) = '%s and %s' % [query(series('working_set_query_' + name)), querySize],

  local who = {
    title: 'Who uses it: the largest (opt-in: working_set_relations, working_set_queries),',
    lines: [
      [
        p.table(
          'Relations', 'The twenty relations with the most pages in the set of the last five minutes, all forks together; how much of that is in shared buffers now. Unused, costs: reads that others would save without an index that nobody has scanned since the statistics began. Catalogs are listed from a megabyte on.',
          15, 10,
          [['datname', 'Database'], ['relation', 'Relation'], ['relkind', 'Kind']],
          [
            ['In the set', p.inMB(relationSize), p.cells(p.mb, 90)],
            ['In shared buffers', p.inMB('(%s and %s)' % [relation('resident_bytes'), relationSize]), p.cells(p.mb, 130)],
            ['Unused, costs', '%s and %s' % [relation('unused_index_reads_per_second'), relationSize], p.cells('rps', 105, 1)],
          ],
          [
            p.override('Database', { 'custom.width': 80 }),
            p.override('Kind', {
              'custom.width': 60,
              mappings: [{
                type: 'value',
                options: { r: { text: 'table' }, i: { text: 'index' }, t: { text: 'TOAST' }, m: { text: 'matview' }, S: { text: 'sequence' } },
              }],
            }),
          ],
          'In the set', { noValue: optIn('working_set_relations') }
        ),
        p.timeseries(
          'Relations over time', 'The parts of the set of the eight that were largest on average in this range, on top of each other.',
          p.mb, 9, 10,
          [['{{datname}} {{relation}}', p.inMB('(%s and topk(8, max by (%s) (avg_over_time(%s[$__range] @ end()))))' %
                                               [relationSize, relationLabels, series('working_set_relation_size_bytes')])]],
          {
            min: 0,
            decimals: 0,
            noValue: optIn('working_set_relations'),
            custom: { fillOpacity: 60, lineWidth: 1, stacking: { mode: 'normal' } },
          }
        ),
      ],
      [
        p.table(
          'Queries', 'The twenty queries with the most pages in the set of the last five minutes. Alone: what no other query uses, and what would be free without it. Makes others read: what all others would not have to read without it; known for the largest. A page counts for each query that used it. The text, by the last digits of queryid: SELECT query FROM pg_stat_statements WHERE queryid::text LIKE \'%123456\'. Other: the sum of those that are not kept apart. Queries are listed from a megabyte on.',
          15, 10,
          [['rolname', 'Role'], ['datname', 'Database'], ['query', 'Query']],
          [
            ['In the set', p.inMB(querySize), p.cells(p.mb, 90)],
            ['Alone', p.inMB('(%s)' % ofQuery('exclusive_bytes')), p.cells(p.mb, 80)],
            ['Reads', ofQuery('reads_per_second'), p.cells('rps', 90, 1)],
            ['Makes others read', ofQuery('reads_saved_per_second'), p.cells('rps', 130, 1)],
          ],
          [p.override('Database', { 'custom.width': 80 }), p.override('Query', { 'custom.width': 70 })],
          'In the set', { noValue: optIn('working_set_queries') }
        ),
        p.timeseries(
          'Queries over time', 'The parts of the set of the eight that were largest on average in this range. They overlap where queries use the same pages.',
          p.mb, 9, 10,
          [['{{rolname}} {{query}}', p.inMB('(%s and topk(8, %s))' %
                                            [querySize, query('avg_over_time(%s[$__range] @ end())' % series('working_set_query_size_bytes'))])]],
          { min: 0, decimals: 0, noValue: optIn('working_set_queries') }
        ),
      ],
    ],
  },

  // ---------------------------------------------------------------- history

  local rate(name) = 'sum(rate(%s[$__rate_interval]))' % series(name),
  local step = { 'custom.lineInterpolation': 'stepAfter' },

  local history = {
    title: 'History of',
    lines: [
      [
        p.timeseries(
          'Used, set and suggested', 'Distinct pages used in the last so many minutes, beside shared_buffers and what is suggested for it. A set above shared_buffers does not fit; where the windows lie on each other, the same pages are used again and again.',
          p.mb, 12, 9,
          std.mapWithIndex(function(i, w) [
            w.name,
            p.inMB(one('working_set_size_bytes', 'window_seconds="%s"' % w.seconds)),
            p.line(p.colors.windows[i % 4]),
          ], windows) + [
            ['shared_buffers', p.inMB(one('working_set_shared_buffers_bytes')), p.dashed(p.colors.sharedBuffers, step)],
            ['suggested', p.inMB(one('working_set_suggested_shared_buffers_bytes')), p.dashed(p.colors.recommended, step)],
          ],
          { min: 0, decimals: 0 }
        ),
        p.timeseries(
          'Query time', 'Share of query time in the week before: that clients waited for reads, and that the suggested size would have saved.',
          'percentunit', 12, 9,
          [
            ['reads', one('working_set_read_time_ratio'), p.line(p.colors.peak)],
            ['the suggested size saves', one('working_set_query_time_saved_ratio'), p.line(p.colors.recommended, { 'custom.fillOpacity': 12 })],
          ]
        ),
      ],
      [
        p.timeseries(
          'Hit ratio', 'Share of lookups that found the page in shared buffers, and of those of the last five minutes that would have with the suggested size.',
          'percentunit', 12, 9,
          [
            ['measured', '%s / %s' % [rate('working_set_hits_total'), rate('working_set_lookups_total')], p.line(p.colors.size)],
            ['with the suggested size', one('working_set_expected_hit_ratio'), p.dashed(p.colors.recommended)],
          ],
          { max: 1 }
        ),
        p.timeseries(
          'Reads and evictions', 'Pages that clients did not find in shared buffers, and pages that left shared buffers.',
          'ops', 12, 9,
          [
            ['reads', '%s - %s' % [rate('working_set_lookups_total'), rate('working_set_hits_total')], p.line(p.colors.sharedBuffers)],
            ['evictions', rate('working_set_evictions_total'), p.dashed(p.colors.effectiveCacheSize)],
          ],
          { min: 0 }
        ),
      ],
      [
        p.stateTimeline(
          'Verdict and measurement', 'What to do about shared_buffers, and whether the measurement is well. A gap is a time of which nothing is known: the server or the exporter was down.', 24, 5,
          [
            ['verdict', verdict, { mappings: verdicts }],
            ['measurement', status, { mappings: states }],
            ['scrape', scrape, { mappings: p.mapping({ '0': ['down', p.colors.bad], '1': ['up', p.colors.good] }) }],
          ]
        ),
      ],
    ],
  },

  grafanaDashboards+:: {
    [config.serverDashboard.file]: p.dashboard(
      config, config.serverDashboard, 'working_set',
      'How much cache a PostgreSQL server needs, as the extension working_set measures it. Several servers that are chosen are shown one after the other.',
      [
        p.clusterVariable(config.clusterLabel, 'working_set_tracking%s' % (if config.selector == '' then '' else '{%s}' % config.selector)),
        p.jobVariable('label_values(working_set_tracking{%s%s=~"$cluster"}, job)' % [chosen, config.clusterLabel]),
        p.instanceVariable('label_values(working_set_tracking{%s%s=~"$cluster", job=~"$job"}, instance)' % [chosen, config.clusterLabel], first=true),
      ],
      [
        p.annotation('counters begin anew (start, reset)', p.colors.neutral,
                     'max(changes(%s[$__rate_interval])) > 0' % series('working_set_counters_start_timestamp_seconds'), config.scrapeInterval),
      ],
      [
        row {
          title: super.title + ' $instance',
          repeat: 'instance',
          lines: [[panel { targets: std.map(guarded, super.targets) } for panel in line] for line in super.lines],
        }
        for row in [summary, advice, memory, who, history]
      ]
    ),
  },
}
