# TPE of Optuna, asked for blocks of configurations and told what came of them: one line of JSON each way.
import json, sys
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
levels, seed, arms = json.loads(sys.stdin.readline())
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
while True:
    trials = [study.ask() for _ in range(arms)]
    print(json.dumps([[t.suggest_categorical(str(i), list(range(n + 1))) for i, n in enumerate(levels)] for t in trials]), flush=True)
    line = sys.stdin.readline()
    if not line:
        break
    for t, value in zip(trials, json.loads(line)):
        study.tell(t, value)
