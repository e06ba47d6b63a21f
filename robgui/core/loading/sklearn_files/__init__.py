"""scikit-learn estimators, read by skops without pickle."""
