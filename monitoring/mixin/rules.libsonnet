// The rules and alerts are written once, as YAML that can be copied as it is; here they are
// read.  What a mixin can change is the name of the label cluster.  The labels instance and
// job are what Prometheus itself calls them, and are not to be changed.
//
// The YAML has no text with line breaks in it (no block that begins with `|'), because jsonnet
// 0.18 cannot read it.
{
  local label = $._config.clusterLabel,
  // The groups of a file, with another name for cluster.  Only where it is a label: in the names
  // of rules, cluster: says what they sum over.
  local places = [
    ['(cluster,', '(' + label + ','],
    ['(cluster)', '(' + label + ')'],
    ['{cluster=', '{' + label + '='],
    ['$labels.cluster', '$labels.' + label],
  ],
  local groups(text) =
    std.parseYaml(std.foldl(function(so_far, place) std.strReplace(so_far, place[0], place[1]), places, text)).groups,

  prometheusRules+:: {
    groups+: groups(importstr '../prometheus/working_set.rules.yml') + groups(importstr '../prometheus/working_set_fleet.rules.yml'),
  },
  prometheusAlerts+:: { groups+: groups(importstr '../prometheus/working_set.alerts.yml') },
}
