"""Item pipelines: what a spider yields, written down."""
