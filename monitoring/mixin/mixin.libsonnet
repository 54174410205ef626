// A monitoring mixin: grafanaDashboards, prometheusRules and prometheusAlerts, made from _config.
(import 'config.libsonnet') +
(import 'rules.libsonnet') +
(import 'dashboards/server.libsonnet') +
(import 'dashboards/fleet.libsonnet')
