"""Commands about evidence: findings as tests, reports that are checked, other verifiers."""
