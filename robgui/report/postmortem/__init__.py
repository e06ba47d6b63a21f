"""Post-mortem: one paragraph on a finding, each sentence of which leads to its picture."""
