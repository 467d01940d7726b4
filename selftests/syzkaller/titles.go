// SPDX-License-Identifier: GPL-2.0
// titles FILE...: what syzkaller's parser reads in each console log, a line for each report:
// FILE, TITLE, why it is called corrupted or "-"; separated by tabs. scripts/try-syzkaller
// builds it in a tree of syzkaller.
package main

import (
	"fmt"
	"os"

	"github.com/google/syzkaller/pkg/mgrconfig"
	"github.com/google/syzkaller/pkg/report"
	"github.com/google/syzkaller/sys/targets"
)

func main() {
	reporter, err := report.NewReporter(&mgrconfig.Config{
		Derived: mgrconfig.Derived{
			TargetOS:   targets.Linux,
			TargetArch: targets.AMD64,
			SysTarget:  targets.Get(targets.Linux, targets.AMD64),
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	for _, file := range os.Args[1:] {
		log, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		for _, found := range report.ParseAll(reporter, log) {
			reason := "-"
			if found.Corrupted {
				reason = found.CorruptedReason
			}
			fmt.Printf("%s\t%s\t%s\n", file, found.Title, reason)
		}
	}
}
