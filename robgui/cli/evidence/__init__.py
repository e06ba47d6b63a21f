"""Commands about evidence: findings as tests, verified reports, other verifiers."""
