"""What a cell collects each minute, the metrics that are computed of it, and the alerts of thresholds."""
