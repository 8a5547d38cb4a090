"""What a program shows of its work to those who operate it: numbers and times, never content or names.

figure  a number with its name, for Prometheus
spans   what an operation or a transaction is timed by
"""
