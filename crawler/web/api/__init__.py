"""The API: each module has a router, and answers with the views' documents in camelCase."""
