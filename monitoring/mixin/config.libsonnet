// What to change for one's own site: import mixin.libsonnet and override _config.
{
  _config+:: {
    // Goes into every selector: '' for all series of this name, or e.g. 'env="prod"'.
    selector: '',

    // The label that tells clusters (sites, environments, tenants) apart.  Series without it
    // are shown, too, as the cluster without a name.
    clusterLabel: 'cluster',

    // How often the exporter runs the queries.  No panel asks for finer steps.
    scrapeInterval: '30s',

    // Windows of working_set_size_bytes, in seconds, with the names they have in legends.
    windows: [
      { seconds: '60', name: '1 min' },
      { seconds: '300', name: '5 min' },
      { seconds: '900', name: '15 min' },
      { seconds: '3600', name: '1 hour' },
    ],

    dashboardTags: ['working_set', 'postgresql'],
    dashboardNamePrefix: 'PostgreSQL / ',
    dashboardTimezone: 'browser',
    dashboardRange: 'now-6h',
    dashboardRefresh: '1m',

    // Fixed, so that links and imports of a later version find what is there.
    serverDashboard: { file: 'working_set.json', uid: 'working-set-server' },
    fleetDashboard: { file: 'working_set_fleet.json', uid: 'working-set-fleet' },
  },
}
