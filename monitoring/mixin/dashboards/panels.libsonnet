// The parts of a dashboard as Grafana 11 stores them (schema version 39), with our looks.
// Grafana fills in what is left out; what is here differs from its defaults or has to be there.
{
  // Okabe and Ito's colours, which people who see red and green alike can tell apart.  The
  // windows are one hue, darker the longer they are.
  colors: {
    sharedBuffers: '#D55E00',
    memory: '#8C8C8C',
    effectiveCacheSize: '#E69F00',
    recommended: '#009E73',
    peak: '#CC79A7',
    size: '#0072B2',
    light: '#56B4E9',
    good: '#009E73',
    bad: '#D55E00',
    unsure: '#E69F00',
    neutral: '#8C8C8C',
    windows: ['#A6D5F2', '#56B4E9', '#2A8FCB', '#005A8E'],
  },

  datasource:: { type: 'prometheus', uid: '${datasource}' },

  // Sizes are in MB of 2^20 bytes, as PostgreSQL writes them; Grafana has no such unit of its own.
  mb:: 'suffix:MB',
  inMB(expr):: expr + ' / 2^20',

  // ---------------------------------------------------------------- queries

  // A query for all steps of the range, drawn as lines.
  range(expr, legend):: {
    datasource: $.datasource,
    editorMode: 'code',
    expr: expr,
    format: 'time_series',
    instant: false,
    legendFormat: legend,
    range: true,
  },

  // A query for the end of the range: what is not there now has no value, however lately it
  // was there.
  now(expr, legend='__auto'):: $.range(expr, legend) { instant: true, range: false },

  // The same as rows of a table, with labels as columns.
  rows(expr):: $.now(expr) { format: 'table' },

  local lettered(targets) = std.mapWithIndex(
    function(i, target) target { refId: std.char(std.codepoint('A') + i) }, targets
  ),

  // ---------------------------------------------------------------- panels

  local panel(type, title, description, w, h, targets) = {
    type: type,
    title: title,
    description: description,
    datasource: $.datasource,
    gridPos: { w: w, h: h, x: 0, y: 0 },
    targets: lettered(targets),
    fieldConfig: { defaults: {}, overrides: [] },
    options: {},
  },

  local noThresholds = { mode: 'absolute', steps: [{ color: 'text', value: null }] },

  thresholds(steps):: { mode: 'absolute', steps: steps },

  // Numbers as words: mapping({'1': ['keep', color], ...})
  mapping(words):: [{
    type: 'value',
    options: {
      [value]: { text: words[value][0], color: words[value][1], index: std.parseInt(value) }
      for value in std.objectFields(words)
    },
  }],

  override(name, properties):: {
    matcher: { id: 'byName', options: name },
    properties: [{ id: id, value: properties[id] } for id in std.objectFields(properties)],
  },

  // A series of a graph, a column of a table: [name, query, looks].  Looks may be missing.  These are some:
  line(color, properties={}):: { color: { mode: 'fixed', fixedColor: color } } + properties,
  dashed(color, properties={}):: $.line(color, { 'custom.lineStyle': { fill: 'dash', dash: [10, 6] } } + properties),
  point(color, size):: $.line(color, { 'custom.drawStyle': 'points', 'custom.pointSize': size }),
  cells(unit, width, decimals=0):: { unit: unit, decimals: decimals, 'custom.width': width },

  local looks(list) = [$.override(one[0], one[2]) for one in list if std.length(one) > 2],

  stat(title, description, unit, w, h, target, defaults={}, options={})::
    panel('stat', title, description, w, h, [target]) {
      fieldConfig: {
        defaults: {
          unit: unit,
          color: { mode: 'thresholds' },
          mappings: [],
          noValue: 'not known',
          thresholds: noThresholds,
        } + defaults,
        overrides: [],
      },
      options: {
        colorMode: 'value',
        graphMode: 'none',
        justifyMode: 'center',
        orientation: 'auto',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        textMode: 'value',
      } + options,
    },

  local graphDefaults(unit) = {
    unit: unit,
    color: { mode: 'palette-classic' },
    mappings: [],
    thresholds: noThresholds,
    custom: { lineWidth: 2, fillOpacity: 0, showPoints: 'auto', spanNulls: false },    // what was not known is a gap
  },

  local legend = { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
  local tooltip = { mode: 'multi', sort: 'none', hideZeros: false },

  timeseries(title, description, unit, w, h, series, defaults={}, overrides=[])::
    panel('timeseries', title, description, w, h, [$.range(one[1], one[0]) for one in series]) {
      fieldConfig: { defaults: std.mergePatch(graphDefaults(unit), defaults), overrides: looks(series) + overrides },
      options: { legend: legend, tooltip: tooltip },
    },

  // Against a label that is a number of bytes, on a logarithmic axis: columns with a row for each value of it.
  trend(title, description, unit, w, h, label, x, columns, defaults={})::
    panel('trend', title, description, w, h, [$.rows(column[1]) for column in columns]) {
      fieldConfig: {
        defaults: std.mergePatch(graphDefaults(unit), defaults),
        overrides: [$.override(x, { unit: $.mb, decimals: 0, 'custom.axisLabel': x, 'custom.scaleDistribution': { type: 'log', log: 2 } })] + looks(columns),
      },
      options: { legend: legend, tooltip: tooltip, xField: x },
      transformations: [
        { id: 'merge', options: {} },
        // a label is text; as text, 1000 would come before 60
        { id: 'convertFieldType', options: { conversions: [{ targetField: label, destinationType: 'number' }], fields: {} } },
        { id: 'calculateField', options: { mode: 'binary', alias: x, binary: { left: label, operator: '/', right: '1048576' } } },
        { id: 'sortBy', options: { fields: {}, sort: [{ field: x }] } },
        $.organize([[x, x]], columns, ['Time', label]),
      ],
    },

  // Renames what merged tables are called: 'Value #A', unless there is only one.
  organize(labels, columns, excluded):: {
    id: 'organize',
    options: {
      excludeByName: { [name]: true for name in excluded },
      indexByName: {
        [labels[i][0]]: i
        for i in std.range(0, std.length(labels) - 1)
      } + {
        [valueName(columns, i)]: std.length(labels) + i
        for i in std.range(0, std.length(columns) - 1)
      },
      includeByName: {},
      renameByName: { [label[0]]: label[1] for label in labels } + {
        [valueName(columns, i)]: columns[i][0]
        for i in std.range(0, std.length(columns) - 1)
      },
    },
  },

  local valueName(columns, i) =
    if std.length(columns) == 1 then 'Value' else 'Value #' + std.char(std.codepoint('A') + i),

  table(title, description, w, h, labels, columns, overrides=[], sortBy=[], defaults={}, excluded=['Time'])::
    panel('table', title, description, w, h, [$.rows(column[1]) for column in columns]) {
      fieldConfig: {
        defaults: {
          color: { mode: 'thresholds' },
          mappings: [],
          thresholds: noThresholds,
          custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: false, inspect: false },
        } + defaults,
        overrides: overrides + looks(columns),
      },
      options: {
        cellHeight: 'sm',
        footer: { countRows: false, reducer: ['sum'], show: false },
        frameIndex: 0,
        showHeader: true,
        sortBy: [{ displayName: name, desc: true } for name in if std.isString(sortBy) then [sortBy] else sortBy],
      },
      transformations: [{ id: 'merge', options: {} }, $.organize(labels, columns, excluded)],
    },

  stateTimeline(title, description, w, h, series)::
    panel('state-timeline', title, description, w, h, [$.range(one[1], one[0]) for one in series]) {
      fieldConfig: {
        defaults: {
          color: { mode: 'thresholds' },
          mappings: [],
          thresholds: noThresholds,
          custom: {
            fillOpacity: 80,
            hideFrom: { legend: false, tooltip: false, viz: false },
            lineWidth: 0,
          },
        },
        overrides: looks(series),
      },
      options: {
        alignValue: 'left',
        legend: legend,
        mergeValues: true,
        rowHeight: 0.85,
        showValue: 'auto',
        tooltip: { mode: 'single', sort: 'none' },
      },
    },

  // ---------------------------------------------------------------- the dashboard

  // rows: [{ title, lines: [[panel, ...], ...], repeat: variable }, ...].  Panels of a line stand
  // side by side; places and ids follow from the order.  Grafana shows a row with `repeat' once
  // for each value that is chosen of that variable.
  local placeLine(line, y) = std.foldl(
    function(done, p) {
      panels: done.panels + [p { gridPos+: { x: done.x, y: y } }],
      x: done.x + p.gridPos.w,
    }, line, { panels: [], x: 0 }
  ).panels,

  local height(line) = std.foldl(function(h, p) std.max(h, p.gridPos.h), line, 0),

  local placeRow(row, y) = std.foldl(
    function(done, line) { panels: done.panels + placeLine(line, done.y), y: done.y + height(line) },
    row.lines,
    {
      panels: [{
        type: 'row',
        title: row.title,
        collapsed: false,
        gridPos: { h: 1, w: 24, x: 0, y: y },
        panels: [],
        [if std.objectHas(row, 'repeat') then 'repeat']: row.repeat,
      }],
      y: y + 1,
    }
  ),

  local place(rows) = std.foldl(
    function(done, row)
      local placed = placeRow(row, done.y);
      { panels: done.panels + placed.panels, y: placed.y },
    rows,
    { panels: [], y: 0 }
  ).panels,

  local variable(name, label, type, current) = {
    name: name,
    label: label,
    type: type,
    current: { selected: false, text: current, value: current },
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    regex: '',
    skipUrlSync: false,
  },

  datasourceVariable:: variable('datasource', 'Data source', 'datasource', 'default') { query: 'prometheus' },

  // Without a value, the first that there is.
  queryVariable(name, label, query, properties={}):: variable(name, label, 'query', '') {
    datasource: $.datasource,
    definition: query,
    query: { query: query, refId: 'StandardVariableQuery' },
    // the servers that were there in the range, not only those of the moment of loading
    refresh: 2,
    sort: 1,
  } + properties,

  // One cluster or several; a series without the label belongs to all of them.
  clusterVariable(label, metric)::
    $.queryVariable('cluster', 'Cluster', 'label_values(%s, %s)' % [metric, label],
                    { allValue: '.*' } + all),

  local all = { includeAll: true, multi: true, current: { selected: true, text: ['All'], value: ['$__all'] } },

  // What Prometheus scraped, by the label job; and the servers, of which one or several can be
  // chosen.  first: one of them to begin with, not all.
  jobVariable(query):: $.queryVariable('job', 'Job', query, { allValue: '.+' } + all),
  instanceVariable(query, first=false)::
    $.queryVariable('instance', 'Instance', query, { allValue: '.+' } + all + if first then { current: { selected: false, text: '', value: '' } } else {}),

  annotation(name, color, expr, interval):: {
    name: name,
    datasource: $.datasource,
    enable: true,
    hide: false,
    iconColor: color,
    target: { editorMode: 'code', expr: expr, interval: interval, refId: 'Anno' },
    titleFormat: name,
    useValueForTime: false,
  },

  dashboard(config, board, title, description, variables, annotations, rows):: {
    uid: board.uid,
    title: config.dashboardNamePrefix + title,
    description: description,
    tags: config.dashboardTags,
    schemaVersion: 39,
    version: 1,
    id: null,
    editable: false,
    graphTooltip: 1,
    fiscalYearStartMonth: 0,
    liveNow: false,
    refresh: config.dashboardRefresh,
    time: { from: config.dashboardRange, to: 'now' },
    timepicker: {},
    timezone: config.dashboardTimezone,
    weekStart: '',
    links: [{
      title: 'working_set',
      type: 'dashboards',
      tags: [config.dashboardTags[0]],
      icon: 'external link',
      asDropdown: false,
      includeVars: true,
      keepTime: true,
      targetBlank: false,
      tooltip: '',
      url: '',
    }],
    templating: { list: [$.datasourceVariable] + variables },
    annotations: {
      list: [{
        builtIn: 1,
        datasource: { type: 'grafana', uid: '-- Grafana --' },
        enable: true,
        hide: true,
        iconColor: 'rgba(0, 211, 255, 1)',
        name: 'Annotations & Alerts',
        type: 'dashboard',
      }] + annotations,
    },
    panels: std.mapWithIndex(
      function(i, p) p { id: i + 1 } + if p.type == 'row' then {} else {
        // as the panel's it is the least step; as the query's, what $__rate_interval is made from
        interval: config.scrapeInterval,
        targets: [t { interval: config.scrapeInterval } for t in p.targets],
      },
      place(rows)
    ),
  },
}
