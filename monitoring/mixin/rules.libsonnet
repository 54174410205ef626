// The recording rules of ../prometheus: of each server, and of the fleet.
local source = import 'source.libsonnet';

{
  prometheusRules+:: {
    groups+:
      source.groups(importstr '../prometheus/working_set.rules.yml', $._config.clusterLabel) +
      source.groups(importstr '../prometheus/working_set_fleet.rules.yml', $._config.clusterLabel),
  },
}
