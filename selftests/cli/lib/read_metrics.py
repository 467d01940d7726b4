# SPDX-License-Identifier: GPL-2.0
# read_metrics.py FILE: metrics as Prometheus' own client reads them, a sample a line.
import sys

from prometheus_client.parser import text_string_to_metric_families

with open(sys.argv[1], encoding="utf-8", newline="") as text:
    for family in text_string_to_metric_families(text.read()):
        if not family.documentation or family.type == "unknown":
            sys.exit("no HELP or TYPE: " + family.name)
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
            print(f"{sample.name}{{{labels}}} {sample.value:.0f}")
