"""What a browser makes of real pages."""
