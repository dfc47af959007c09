"""What studies try: sequences of values, ranges and spaces of them, in the one notation that files, command line and servers have. Pure:
nothing here is imported but the standard library."""
