"""Study files for the end-to-end tests: small enough for seconds, with schedules that share and part."""


def sha(name, share="study", updates=100):
    """Twelve trials in three rungs over lr, bs, momentum and dropout."""
    return f"""
study: {name}
trainer: mlp
data: digits
step: {updates} updates
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [6], gamma=0.1)", "Exponential(0.1, 0.9)"]
  bs: [32, "MultiStep(32, [8], gamma=2)"]
  momentum: [0.9, "Piecewise([0.9, 0.5], [5])"]
  dropout: 0.1
metric: {{name: test_acc, goal: max}}
tuner: {{sha: {{min: 4, max: 16, reduction: 2}}}}
share: {share}
"""


def grid(name, lr, steps, share="study", updates=100):
    """One trial for each learning rate, all of the same length."""
    listed = ", ".join(f'"{text}"' if "(" in text else text for text in lr)
    return f"""
study: {name}
trainer: mlp
data: digits
step: {updates} updates
hyper_parameters:
  lr: [{listed}]
metric: {{name: test_acc, goal: max}}
tuner: {{grid: {{steps: {steps}}}}}
share: {share}
"""
