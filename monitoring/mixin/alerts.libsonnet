// The alerts of ../prometheus.
local source = import 'source.libsonnet';

{
  prometheusAlerts+:: {
    groups+: source.groups(importstr '../prometheus/working_set.alerts.yml', $._config.clusterLabel),
  },
}
