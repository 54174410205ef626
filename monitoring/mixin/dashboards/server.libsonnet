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
  // A figure of one size, which is a label: sizes of the advice are multiples of the setting.
  local ofSize(name, factor='') =
    '%s and on (cache_size_bytes) count_values("cache_size_bytes", %s%s)' %
    [by('cache_size_bytes', name), factor, one('working_set_shared_buffers_bytes')],

  // The one of several series that is 1, as a number.
  local code(name, label, values) = std.join(' + ', std.mapWithIndex(
    function(i, value) (if i == 0 then '' else '%d * ' % (i + 1)) + one(name, '%s="%s"' % [label, value]), values
  )),
  local verdicts = ['keep', 'grow', 'shrink', 'exceeds memory'],
  local verdict = code('working_set_verdict', 'verdict', verdicts),
  local verdictColors = [p.colors.good, p.colors.unsure, p.colors.light, p.colors.bad],
  local states = ['ok', 'collecting', 'stale', 'not tracking'],
  local status = code('working_set_status', 'status', states),
  local stateColors = [p.colors.good, p.colors.light, p.colors.unsure, p.colors.bad],
  local words(names, colors) =
    p.mapping({ [std.toString(i + 1)]: [names[i], colors[i]] for i in std.range(0, std.length(names) - 1) }),
  local yesNo(yes, no) = p.mapping({ '0': [no, p.colors.bad], '1': [yes, p.colors.good] }),

  // Debian's exporter goes on serving its last figures when PostgreSQL does not answer.  They
  // are not the present, so that they are shown in the row on health only, and in what is
  // about the past anyway.
  local failed = 'sql_exporter_last_scrape_failed{query="working_set_tracking", %s}' % selector,
  local guarded(row) = row {
    lines: [
      [
        if std.objectHasAll(panel, 'past') then panel
        else panel { targets: [t { expr: '%s unless on () %s == 1' % [super.expr, failed] } for t in super.targets] }
        for panel in line
      ]
      for line in super.lines
    ],
  },

  local optIn(file) = 'no data: this needs the opt-in collector %s' % file,

  // ---------------------------------------------------------------- summary

  local bytes(title, description, name) =
    p.stat(title, description, 'bytes', 4, 3, p.now(one(name)), { decimals: 1 }),

  local summary = {
    title: 'Summary of',
    lines: [
      [
        p.stat(
          'Verdict', 'What to do about shared_buffers, by what clients waited for reads in the past week. There is none while confidence is low.',
          'none', 4, 3, p.now(verdict), { mappings: words(verdicts, verdictColors) }
        ),
        bytes('Suggested', 'For ALTER SYSTEM SET shared_buffers; the present size if the verdict is keep.', 'working_set_suggested_shared_buffers_bytes'),
        p.stat(
          'It saves', 'Share of query time that the suggested size would have saved in the past week; below 0, that it would have cost.',
          'percentunit', 4, 3, p.now(one('working_set_query_time_saved_ratio')), { decimals: 1 }
        ),
        p.stat(
          'Confidence', 'Low: less than a day was seen, or what other sizes would do is not known; then no size is suggested. Medium: less than a week was seen.',
          'none', 4, 3, p.now(one('working_set_confidence')), { mappings: p.mapping({ '0': ['low', p.colors.unsure], '1': ['medium', p.colors.light], '2': ['high', p.colors.good] }) }
        ),
        bytes('shared_buffers', 'The setting.', 'working_set_shared_buffers_bytes'),
        bytes('Memory', "What the server may use: the host's, or the limit of its control group if that is less.", 'working_set_memory_limit_bytes'),
      ],
      [
        p.stat(
          'Reads, of query time', 'Share of the time in which clients were active, in the past week, that they waited for reads.',
          'percentunit', 4, 4, p.now(one('working_set_read_time_ratio')), { decimals: 1 }
        ),
        p.stat(
          'Hit ratio now', 'Share of the lookups of the last five minutes that found the page in shared buffers.',
          'percentunit', 4, 4, p.now(one('working_set_current_hit_ratio')), { decimals: 2 }
        ),
        p.stat(
          'Working set, 5 min', 'Distinct pages that clients used in the last five minutes.',
          'bytes', 4, 4, p.now(one('working_set_size_bytes', 'window_seconds="300"')), { decimals: 1 }
        ),
        p.table(
          'Reason', 'Why the recommendation is what it is. Opt-in: working_set_reason, every quarter of an hour.',
          12, 4,
          [['reason', 'Reason']], [['1', by('reason', 'working_set_reason_info')]],
          [p.override('Reason', { 'custom.cellOptions': { type: 'auto', wrapText: true } })],
          defaults={ noValue: optIn('working_set_reason') }, excluded=['Time', 'Value']
        ) + { options+: { showHeader: false, cellHeight: 'lg' } },
      ],
    ],
  },

  // ---------------------------------------------------------------- size

  local bounded(i) =
    local window = windows[i];
    local low = window.name + ', lower bound';
    local high = window.name + ', upper bound';
    local label = 'window_seconds="%s"' % window.seconds;
    {
      targets: [
        p.range(one('working_set_size_bytes', label), window.name),
        p.range(one('working_set_size_lower_bound_bytes', label), low),
        p.range(one('working_set_size_upper_bound_bytes', label), high),
      ],
      overrides: [p.line(window.name, p.colors.windows[i % 4])] + p.bounds(low, high, p.colors.windows[i % 4]),
    },
  local bands = [bounded(i) for i in std.range(0, std.length(windows) - 1)],
  local longest = windows[std.length(windows) - 1],

  local sharedBuffersLine = p.dashed('shared_buffers', p.colors.sharedBuffers, { 'custom.lineInterpolation': 'stepAfter' }),

  local size = {
    title: 'Size against shared_buffers and memory,',
    lines: [[
      p.timeseries(
        'Working set and shared_buffers', 'Distinct pages used in the last so many minutes, with 95 % bounds: one line for each window. A set above shared_buffers does not fit; where the windows lie on each other, the same pages are used again and again.',
        'bytes', 14, 10,
        std.flattenArrays([band.targets for band in bands]) +
        [p.range(one('working_set_shared_buffers_bytes'), 'shared_buffers')],
        std.flattenArrays([band.overrides for band in bands]) + [sharedBuffersLine],
        defaults={ min: 0 }, calcs=['lastNotNull', 'max'],
      ),
      p.timeseries(
        'Against memory', 'The set of the longest window beside what caches it, on a logarithmic scale: shared_buffers and the memory there is.',
        'bytes', 10, 10,
        [
          p.range(one('working_set_memory_limit_bytes'), 'memory'),
          p.range(one('working_set_shared_buffers_bytes'), 'shared_buffers'),
          p.range(one('working_set_size_bytes', 'window_seconds="%s"' % longest.seconds), 'working set, ' + longest.name),
        ],
        [
          p.dashed('memory', p.colors.memory),
          sharedBuffersLine,
          p.line('working set, ' + longest.name, p.colors.size),
        ],
        defaults={ custom: { scaleDistribution: { type: 'log', log: 2 } } }, calcs=['lastNotNull'],
      ),
    ]],
  },

  // ---------------------------------------------------------------- curve

  local overWindows(name) = '0 * %s + on () group_left () %s' % [by('window_seconds', 'working_set_size_bytes'), one(name)],

  local curve = {
    title: 'Curve: size against window,',
    lines: [
      [
        p.heatmap(
          'Curve over time', 'Each column is the curve of that moment: the window upwards, the size as colour. A column of one colour is a plateau: the same pages again and again. A light patch that moves up is a burst that grows old.',
          's', 'bytes', 14, 9,
          p.range(by('window_seconds', 'working_set_size_bytes'), '{{window_seconds}}')
        ),
        p.trend(
          'Curve now', 'Distinct pages of the last so many seconds, with 95 % bounds. It is level where the same pages are used again and again, and rises where new ones come in.',
          'bytes', 10, 9, 'window_seconds', 'Window', 's',
          [
            ['Working set', by('window_seconds', 'working_set_size_bytes')],
            ['Lower bound', by('window_seconds', 'working_set_size_lower_bound_bytes')],
            ['Upper bound', by('window_seconds', 'working_set_size_upper_bound_bytes')],
            ['shared_buffers', overWindows('working_set_shared_buffers_bytes')],
          ],
          [
            p.line('Working set', p.colors.size, { 'custom.showPoints': 'always' }),
          ] + p.bounds('Lower bound', 'Upper bound', p.colors.size) + [
            p.dashed('shared_buffers', p.colors.sharedBuffers),
          ],
          { min: 0 }
        ),
      ],
    ],
  },

  local minutes = {
    title: 'Windows of every minute (opt-in: working_set_neon),',
    lines: [
      [
        p.heatmap(
          'Sixty windows over time', 'The same for each window of 1 to 60 minutes, in pages, by the metric that computes of Neon have.',
          's', 'short', 14, 9,
          p.range('max by (duration_seconds) (%s)' % series('lfc_approximate_working_set_size_windows', 'duration_seconds!=""'), '{{duration_seconds}}')
        ) + { fieldConfig+: { defaults+: { noValue: optIn('working_set_neon') } } },
        p.trend(
          'Sixty windows now', 'In pages.', 'short', 10, 9, 'duration_seconds', 'Window', 's',
          [['Pages', 'max by (duration_seconds) (%s)' % series('lfc_approximate_working_set_size_windows', 'duration_seconds!=""')]],
          [p.line('Pages', p.colors.size)],
          { min: 0, noValue: optIn('working_set_neon') }
        ),
      ],
    ],
  },

  // ---------------------------------------------------------------- recommendation

  local recommendation = {
    title: 'Recommendation of',
    lines: [
      [
        p.timeseries(
          'Suggested size', 'What is suggested for the setting, beside the setting.',
          'bytes', 8, 9,
          [
            p.range(one('working_set_suggested_shared_buffers_bytes'), 'suggested shared_buffers'),
            p.range(one('working_set_shared_buffers_bytes'), 'shared_buffers'),
          ],
          [
            p.dashed('suggested shared_buffers', p.colors.size, { 'custom.lineInterpolation': 'stepAfter' }),
            sharedBuffersLine,
          ],
          { min: 0 }, ['lastNotNull', 'max'],
        ),
        p.timeseries(
          'Query time', 'Share of query time in the week before: that clients waited for reads, and that the suggested size would have saved.',
          'percentunit', 8, 9,
          [
            p.range(one('working_set_read_time_ratio'), 'reads'),
            p.range(one('working_set_query_time_saved_ratio'), 'the suggested size saves'),
          ],
          [
            p.line('reads', p.colors.peak),
            p.line('the suggested size saves', p.colors.recommended, { 'custom.fillOpacity': 12 }),
          ],
          {}, ['lastNotNull', 'max'],
        ),
        p.timeseries(
          'Hit ratio', 'Share of lookups that find the page in shared buffers: of the last five minutes, of the moment (from the counters), and expected with the suggested size.',
          'percentunit', 8, 9,
          [
            p.range('sum(rate(%s[$__rate_interval])) / sum(rate(%s[$__rate_interval]))' %
                    [series('working_set_hits_total'), series('working_set_lookups_total')], 'at the moment'),
            p.range(one('working_set_current_hit_ratio'), 'last 5 minutes'),
            p.range(one('working_set_expected_hit_ratio'), 'expected'),
          ],
          [
            p.line('at the moment', p.colors.light, { 'custom.lineWidth': 1 }),
            p.line('last 5 minutes', p.colors.size),
            p.dashed('expected', p.colors.recommended),
          ],
          { max: 1 }, ['lastNotNull', 'min'],
        ),
      ],
      [
        p.stateTimeline(
          'Verdict over time', 'What to do about shared_buffers.', 24, 4,
          [p.range(verdict, 'verdict')], mappings=words(verdicts, verdictColors)
        ),
      ],
    ],
  },

  // ---------------------------------------------------------------- advice

  local ratioBound(function_, sign, limit) =
    '%s(%s %s %s, %d)' % [function_, by('cache_size_bytes', 'working_set_predicted_hit_ratio'), sign,
                          by('cache_size_bytes', 'working_set_predicted_hit_ratio_error'), limit],

  local advice = {
    title: 'Advice: what another size would do,',
    lines: [[
      p.trend(
        'Hit ratio against shared_buffers', 'What the hit ratio of the last five minutes would have been with shared buffers of other sizes, from a tenth to sixteen times the present one, with 95 % bounds. "Measured" beside "Present size" shows how far to believe it. "Suggested" is predicted for that size.',
        'percentunit', 12, 10, 'cache_size_bytes', 'Size of shared_buffers', 'bytes',
        [
          ['Predicted', by('cache_size_bytes', 'working_set_predicted_hit_ratio')],
          ['Lower bound', ratioBound('clamp_min', '-', 0)],
          ['Upper bound', ratioBound('clamp_max', '+', 1)],
          ['Present size', ofSize('working_set_predicted_hit_ratio')],
          ['Suggested', 'count_values("cache_size_bytes", %s) * on () group_left () %s' %
                              [one('working_set_suggested_shared_buffers_bytes'), one('working_set_expected_hit_ratio')]],
          ['Measured', 'count_values("cache_size_bytes", %s) * on () group_left () %s and on (cache_size_bytes) %s' %
                       [one('working_set_shared_buffers_bytes'), one('working_set_current_hit_ratio'), series('working_set_predicted_hit_ratio')]],
        ],
        [p.line('Predicted', p.colors.size)] + p.bounds('Lower bound', 'Upper bound', p.colors.size) + [
          p.line('Suggested', p.colors.recommended, { 'custom.drawStyle': 'points', 'custom.pointSize': 12 }),
          p.line('Present size', p.colors.sharedBuffers, { 'custom.drawStyle': 'points', 'custom.pointSize': 14 }),
          p.line('Measured', p.colors.peak, { 'custom.drawStyle': 'points', 'custom.pointSize': 8 }),
        ],
        // the suggested size is between two of the others, where there is nothing else
        { noValue: 'no advice that can be relied on (yet)', custom: { spanNulls: true } }
      ),
      p.trend(
        'Reads against shared_buffers', 'Pages that clients would have to read in a second, from the page cache or from disk. Where it falls steeply, memory is well spent.',
        'rps', 12, 10, 'cache_size_bytes', 'Size of shared_buffers', 'bytes',
        [
          ['Predicted reads', by('cache_size_bytes', 'working_set_predicted_reads_per_second')],
          ['Present size', ofSize('working_set_predicted_reads_per_second')],
        ],
        [
          p.line('Predicted reads', p.colors.size, { 'custom.fillOpacity': 12 }),
          p.line('Present size', p.colors.sharedBuffers, { 'custom.drawStyle': 'points', 'custom.pointSize': 14 }),
        ],
        { min: 0, noValue: 'no advice that can be relied on (yet)' }
      ),
    ]],
  },

  // ---------------------------------------------------------------- memory

  local noMemoryAdvice = 'no advice that can be relied on (yet). It needs the opt-in collector working_set_memory',
  // A figure at the present memory, and a figure as a line for all memories.
  local atMemory(name) = 'count_values("memory_bytes", %s) * on () group_left () %s' % [one('working_set_memory_limit_bytes'), one(name)],
  local overMemory(name) = '0 * %s + on () group_left () %s' % [by('memory_bytes', 'working_set_memory_best_shared_buffers_bytes'), one(name)],

  local memory = {
    title: 'Memory: what more or less would do (opt-in: working_set_memory),',
    lines: [[
      p.trend(
        'Disk reads against memory', 'How often in a second clients would wait for the disk, by the last five minutes, with a quarter to four times the memory, best divided between shared_buffers and the page cache. "Now" has the present shared_buffers, "suggested" the suggested ones. Where it falls steeply, memory is well spent.',
        'rps', 10, 10, 'memory_bytes', 'Memory', 'bytes',
        [
          ['Best division', by('memory_bytes', 'working_set_memory_predicted_disk_reads_per_second')],
          ['Now', atMemory('working_set_predicted_disk_reads_per_second')],
          ['Suggested', atMemory('working_set_expected_disk_reads_per_second')],
        ],
        [
          p.line('Best division', p.colors.size, { 'custom.fillOpacity': 12 }),
          p.line('Now', p.colors.sharedBuffers, { 'custom.drawStyle': 'points', 'custom.pointSize': 14 }),
          p.line('Suggested', p.colors.recommended, { 'custom.drawStyle': 'points', 'custom.pointSize': 8 }),
        ],
        { min: 0, noValue: noMemoryAdvice }
      ),
      p.trend(
        'Best shared_buffers', 'What shared_buffers would be in the best division of so much memory. The rest, but for what all else takes, is left for the page cache.',
        'bytes', 7, 10, 'memory_bytes', 'Memory', 'bytes',
        [
          ['Best', by('memory_bytes', 'working_set_memory_best_shared_buffers_bytes')],
          ['shared_buffers', overMemory('working_set_shared_buffers_bytes')],
          ['Suggested', overMemory('working_set_suggested_shared_buffers_bytes')],
        ],
        [
          p.line('Best', p.colors.size),
          p.dashed('shared_buffers', p.colors.sharedBuffers),
          p.dashed('Suggested', p.colors.recommended),
        ],
        { min: 0, noValue: noMemoryAdvice }
      ),
      p.timeseries(
        'Read from disk', 'Bytes that the kernel read from disk for clients in a second, and what is predicted for memory and shared_buffers as they are. While these differ, there are no predictions.',
        'binBps', 7, 10,
        [
          p.range(one('working_set_measured_disk_bytes_per_second'), 'measured'),
          p.range(one('working_set_predicted_disk_bytes_per_second'), 'predicted'),
        ],
        [p.line('measured', p.colors.sharedBuffers), p.line('predicted', p.colors.size)],
        { min: 0, noValue: noMemoryAdvice }, ['lastNotNull', 'max']
      ),
    ]],
  },

  // ---------------------------------------------------------------- the reason, in figures

  local small(title, description, unit, expr, defaults={}, width=3) =
    p.stat(title, description, unit, width, 3, p.now(expr), { decimals: 1 } + defaults),
  local readsAt(factor) = 'max(%s)' % ofSize('working_set_predicted_reads_per_second', factor),

  local reason = {
    title: 'Reason in figures,',
    lines: [
      [
        small('Reads now', 'Pages that clients read in a second at the present size, as predicted.', 'rps', readsAt(''), width=6),
        small('Halving adds', 'Reads a second that half of shared_buffers would cost.', 'rps', '%s - %s' % [readsAt('0.5 * '), readsAt('')], width=6),
        small('Doubling saves', 'Reads a second that twice the shared_buffers would save.', 'rps', '%s - %s' % [readsAt(''), readsAt('2 * ')], width=6),
        small('Doubling again', 'Reads a second that four times the shared_buffers would save beyond that.', 'rps', '%s - %s' % [readsAt('2 * '), readsAt('4 * ')], width=6),
      ],
      [
        p.table(
          'Reasons given in this range', 'Each sentence once, the latest first. Opt-in: working_set_reason.', 24, 6,
          [['reason', 'Reason']],
          [['Last given', '1000 * max by (reason) (max_over_time(timestamp(%s)[$__range:1m]))' % series('working_set_reason_info')]],
          [
            p.override('Last given', { unit: 'dateTimeAsIso', 'custom.width': 180 }),
            p.override('Reason', { 'custom.cellOptions': { type: 'auto', wrapText: true } }),
          ],
          'Last given', { noValue: optIn('working_set_reason') }
        ) + { past:: true },
      ],
    ],
  },

  // ---------------------------------------------------------------- relations

  local labels = 'datname, relation, relkind',
  local relationResident = by(labels, 'working_set_relation_resident_bytes'),
  // Catalogs only from a megabyte on.  In another database their names are not known, but the
  // numbers of their files are small.
  local catalog = '(pg_catalog|pg_toast|information_schema)\\\\..+|relfilenode ([1-9][0-9]?[0-9]?[0-9]?|1[0-5][0-9][0-9][0-9])',
  local relationSize = 'max by (%s) (%s or %s >= 2^20)' % [
    labels,
    series('working_set_relation_size_bytes', 'relation!~"%s"' % catalog),
    series('working_set_relation_size_bytes', 'relation=~"%s"' % catalog),
  ],

  local relations = {
    title: 'Relations, the largest (opt-in: working_set_relations),',
    lines: [[
      p.table(
        'Largest in the set of the last five minutes', 'The twenty relations with the most pages in the set, all forks together; how much of that is in shared buffers now. Unused, costs: reads that others would save without an index that nobody has scanned since the statistics began. Catalogs are listed from a megabyte on.',
        14, 11,
        [['datname', 'Database'], ['relation', 'Relation'], ['relkind', 'Kind']],
        [
          ['In the set', relationSize],
          ['In shared buffers', '%s and %s' % [relationResident, relationSize]],
          ['Share', '%s / %s' % [relationResident, relationSize]],
          ['Unused, costs', '%s and %s' % [by(labels, 'working_set_relation_unused_index_reads_per_second'), relationSize]],
        ],
        [
          p.override('Database', { 'custom.width': 90 }),
          p.override('In the set', { unit: 'bytes', decimals: 1, 'custom.width': 90 }),
          p.override('In shared buffers', { unit: 'bytes', decimals: 1, 'custom.width': 120 }),
          p.override('Share', {
            unit: 'percentunit',
            decimals: 0,
            min: 0,
            max: 1,
            color: { mode: 'fixed', fixedColor: p.colors.light },
            'custom.cellOptions': { type: 'gauge', mode: 'basic', valueDisplayMode: 'text' },
            'custom.width': 100,
          }),
          p.override('Unused, costs', { unit: 'rps', decimals: 1, 'custom.width': 105 }),
          p.override('Kind', {
            'custom.width': 60,
            mappings: [{
              type: 'value',
              options: {
                r: { text: 'table', index: 0 },
                i: { text: 'index', index: 1 },
                t: { text: 'TOAST', index: 2 },
                m: { text: 'materialized view', index: 3 },
                S: { text: 'sequence', index: 4 },
              },
            }],
          }),
        ],
        'In the set', { noValue: optIn('working_set_relations') }
      ),
      p.timeseries(
        'The eight largest, over time', 'Their parts of the set, on top of each other: the eight that were largest on average in this range.',
        'bytes', 10, 11,
        [p.range('%s and topk(8, max by (%s) (avg_over_time(%s[$__range] @ end())))' %
                 [relationSize, labels, series('working_set_relation_size_bytes')], '{{datname}} {{relation}}')],
        [],
        {
          min: 0,
          noValue: optIn('working_set_relations'),
          custom: { fillOpacity: 60, lineWidth: 1, stacking: { mode: 'normal' } },
        }
      ),
    ]],
  },

  // ---------------------------------------------------------------- databases

  local byDatabase(name) = 'label_replace(%s, "datname", "(shared)", "datname", "")' % by('datname', name),
  local databaseSize = byDatabase('working_set_database_size_bytes'),
  local databaseResident = byDatabase('working_set_database_resident_bytes'),

  local databases = {
    title: 'Databases (opt-in: working_set_databases),',
    lines: [[
      p.table(
        'Databases in the set of the last five minutes', 'The twenty databases with the most pages in the set; how much of that is in shared buffers now. (shared) is what all databases share, and what was of dropped ones.',
        10, 8,
        [['datname', 'Database']],
        [
          ['In the set', databaseSize],
          ['In shared buffers', databaseResident],
          ['Share', '%s / %s' % [databaseResident, databaseSize]],
        ],
        [
          p.override('In the set', { unit: 'bytes', decimals: 1, 'custom.width': 90 }),
          p.override('In shared buffers', { unit: 'bytes', decimals: 1, 'custom.width': 120 }),
          p.override('Share', { unit: 'percentunit', decimals: 0, 'custom.width': 80 }),
        ],
        'In the set', { noValue: optIn('working_set_databases') }
      ),
      p.timeseries(
        'Databases over time', 'Their parts of the set, on top of each other.', 'bytes', 14, 8,
        [p.range(databaseSize, '{{datname}}')],
        [],
        {
          min: 0,
          noValue: optIn('working_set_databases'),
          custom: { fillOpacity: 60, lineWidth: 1, stacking: { mode: 'normal' } },
        }
      ),
    ]],
  },

  // ---------------------------------------------------------------- queries

  local queryLabels = 'datname, rolname, queryid',
  local byQuery(name) = 'label_replace(%s, "queryid", "(none)", "queryid", "")' % by(queryLabels, name),
  local querySize = byQuery('working_set_query_size_bytes'),

  local queries = {
    title: 'Queries, the largest (opt-in: working_set_queries),',
    lines: [[
      p.table(
        'Queries that use most in five minutes', 'The twenty queries with the most pages in the set. Alone: what no other query uses, and what would be free without it. Makes others read: what all others would not have to read without it; known for the largest. A page counts for each query that used it. The text: SELECT query FROM pg_stat_statements WHERE queryid = ... Other: the sum of those that are not kept apart.',
        16, 11,
        [['datname', 'Database'], ['rolname', 'Role'], ['queryid', 'Query']],
        [
          ['In the set', querySize],
          ['Alone', byQuery('working_set_query_exclusive_bytes')],
          ['Reads', byQuery('working_set_query_reads_per_second')],
          ['Makes others read', byQuery('working_set_query_reads_saved_per_second')],
        ],
        [
          p.override('Database', { 'custom.width': 80 }),
          p.override('Role', { 'custom.width': 130 }),
          p.override('Query', { 'custom.width': 170 }),
          p.override('In the set', { unit: 'bytes', decimals: 1, 'custom.width': 90 }),
          p.override('Alone', { unit: 'bytes', decimals: 1, 'custom.width': 80 }),
          p.override('Reads', { unit: 'rps', decimals: 1, 'custom.width': 80 }),
          p.override('Makes others read', { unit: 'rps', decimals: 1, 'custom.width': 130 }),
        ],
        'In the set', { noValue: optIn('working_set_queries') }
      ),
      p.timeseries(
        'The eight that use most, over time', 'Their parts of the set. They overlap where queries use the same pages. The eight that were largest on average in this range.',
        'bytes', 8, 11,
        [p.range('%s and topk(8, %s)' %
                 [querySize, 'label_replace(max by (%s) (avg_over_time(%s[$__range] @ end())), "queryid", "(none)", "queryid", "")' %
                             [queryLabels, series('working_set_query_size_bytes')]], '{{queryid}} {{rolname}} {{datname}}')],
        [],
        { min: 0, noValue: optIn('working_set_queries') }
      ),
    ]],
  },

  // ---------------------------------------------------------------- health

  local age(name) = 'time() - %s' % one(name),
  local late(warning, critical) = {
    thresholds: p.thresholds([
      { color: p.colors.good, value: null },
      { color: p.colors.unsure, value: warning },
      { color: p.colors.bad, value: critical },
    ]),
  },

  local health = {
    title: 'Health of the measurement of',
    lines: [
      [
        small('Tracking', 'Are lookups counted? If not, the reason is in working_set_info and in the log of the server.', 'none', one('working_set_tracking'), { decimals: 0, mappings: yesNo('yes', 'no') }),
        small('Worker', 'The background worker makes the recommendation, once in working_set.interval.', 'none', one('working_set_worker_running'), { decimals: 0, mappings: yesNo('runs', 'is gone') }),
        small('Status', 'ok; collecting: less than a minute is known; stale: the worker is late or gone; not tracking.', 'none', status, { decimals: 0, mappings: words(states, stateColors) }),
        small('Last computed', 'How long ago the recommendation was made.', 's', age('working_set_recommendation_timestamp_seconds'), late(120, 600)),
        small('Last saved', 'How long ago the set, the sample and the history were saved. What came since is lost if the server crashes.', 's', age('working_set_last_saved_timestamp_seconds'), late(3600, 86400)),
        small('Counting for', 'How long the counters have been counting: since the start of the server, the last reset, or when tracking was turned on.', 's', age('working_set_counters_start_timestamp_seconds')),
        small('Its shared memory', 'What the extension itself takes.', 'bytes', one('working_set_shared_memory_bytes')),
        p.stat(
          'Version', 'Version of the loaded library, and the heuristic in use.', 'none', 3, 3,
          p.now(series('working_set_info'), '{{version}}, {{method}}'), {}, { textMode: 'name' }
        ),
      ],
      [
        p.stateTimeline(
          'Status over time', 'A gap is a time of which nothing is known: the server or the exporter was down.', 24, 6,
          [
            p.range(status, 'status'),
            p.range(one('working_set_tracking'), 'tracking'),
            p.range(one('working_set_worker_running'), 'worker'),
            p.range(one('working_set_advice_reliable'), 'advice'),
            // the first for Debian's exporter, whose answer to Prometheus says nothing of PostgreSQL
            p.range('1 - max(%s) or max(up{%s})' % [failed, selector], 'scrape'),
          ],
          [
            p.override('status', { mappings: words(states, stateColors) }),
            p.override('tracking', { mappings: yesNo('tracking', 'not tracking') }),
            p.override('worker', { mappings: yesNo('runs', 'is gone') }),
            p.override('advice', { mappings: p.mapping({ '0': ['not reliable', p.colors.unsure], '1': ['reliable', p.colors.good] }) }),
            p.override('scrape', { mappings: yesNo('up', 'down') }),
          ]
        ),
      ],
      [
        p.timeseries(
          'Lookups and evictions', 'Pages that clients looked up, those of them that were not in shared buffers, and pages that left shared buffers.',
          'ops', 8, 8,
          [
            p.range('sum(rate(%s[$__rate_interval]))' % series('working_set_lookups_total'), 'lookups'),
            p.range('sum(rate(%s[$__rate_interval])) - sum(rate(%s[$__rate_interval]))' %
                    [series('working_set_lookups_total'), series('working_set_hits_total')], 'misses'),
            p.range('sum(rate(%s[$__rate_interval]))' % series('working_set_evictions_total'), 'evictions'),
          ],
          [
            p.line('lookups', p.colors.size),
            p.line('misses', p.colors.sharedBuffers),
            p.dashed('evictions', p.colors.effectiveCacheSize),
          ],
          { min: 0 }, ['lastNotNull', 'max']
        ),
        p.timeseries(
          'Samples dropped', 'Events of sampled pages that were lost, because the worker could not keep up for a moment. While they are, predictions, relations, recommendation and verdict may be wrong; the curve is not.',
          'short', 8, 8,
          [p.range('sum(increase(%s[$__rate_interval]))' % series('working_set_dropped_samples_total'), 'dropped')],
          [p.line('dropped', p.colors.bad, { 'custom.drawStyle': 'bars', 'custom.fillOpacity': 60 })],
          { min: 0 }, ['lastNotNull', 'max']
        ),
        p.timeseries(
          'Standard error of a size', 'As a share of the size; it follows from working_set.registers.',
          'percentunit', 8, 8,
          [p.range(one('working_set_size_relative_error_ratio'), 'standard error')],
          [p.line('standard error', p.colors.size)],
          { min: 0 }, ['lastNotNull']
        ),
      ],
      [
        p.timeseries(
          'Age of recommendation and saved state', 'Rises while the worker is late or gone.', 's', 6, 7,
          [
            p.range(age('working_set_recommendation_timestamp_seconds'), 'recommendation'),
            p.range(age('working_set_last_saved_timestamp_seconds'), 'saved'),
          ],
          [p.line('recommendation', p.colors.recommended), p.line('saved', p.colors.neutral)],
          { min: 0 }, ['lastNotNull', 'max']
        ),
        p.timeseries(
          'Pages in the sample', 'Those that advice and relations are made from; at most working_set.sample_pages.', 'short', 6, 7,
          [p.range(one('working_set_sampled_pages'), 'pages')],
          [p.line('pages', p.colors.neutral)],
          { min: 0 }, ['lastNotNull', 'max']
        ),
        p.timeseries(
          'Share of pages sampled', 'It halves when the sample is full.', 'percentunit', 6, 7,
          [p.range(one('working_set_sample_ratio'), 'share')],
          [p.line('share', p.colors.effectiveCacheSize, { 'custom.lineInterpolation': 'stepAfter' })],
          { min: 0 }, ['lastNotNull', 'min']
        ),
        p.timeseries(
          'Series', 'What this server costs Prometheus: the opt-in collectors make most of it.', 'short', 6, 7,
          [p.range('count({__name__=~"(working_set|lfc)_.+", %s})' % selector, 'series')],
          [p.line('series', p.colors.size)],
          { min: 0 }, ['lastNotNull', 'max']
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
        row { title: super.title + ' $instance', repeat: 'instance' }
        for row in [guarded(r) for r in [summary, size, curve, recommendation, advice, memory, relations, databases, queries, reason, minutes]] + [health]
      ]
    ),
  },
}
