"""Units alone, without servers; mirrors crawler/."""
