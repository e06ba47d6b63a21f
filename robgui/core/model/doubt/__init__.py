"""Why a model may be right less often than it should: how it is fed, or the order of its names."""
