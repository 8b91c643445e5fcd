"""What operators deploy: manifests, dashboards, rules, runbooks, checked offline."""
