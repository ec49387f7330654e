package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var leaks = figure{
	number: 23, name: "leaks and races are looked for",
	conditions: [3]string{scaled: "packages with tests, and what make test and .ci/run do", full: "packages with tests, and what make test and .ci/run do"},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		rows, err := s.tests(ctx, "packages look for leaks", "^TestLeaksAreLookedFor$", "./test/fence")
		if err != nil {
			return nil, err
		}
		makefile, err := os.ReadFile(filepath.Join(s.root, "Makefile"))
		if err != nil {
			return nil, err
		}
		ci, err := os.ReadFile(filepath.Join(s.root, ".ci/run"))
		if err != nil {
			return nil, err
		}
		return append(rows, lookedFor(string(makefile), string(ci))...), nil
	},
}

// lookedFor tells what the Makefile and .ci/run have checked of every package: races, and known vulnerabilities.
func lookedFor(makefile, ci string) []row {
	race := regexp.MustCompile(`(?m)^\t.*\$\(GO\) test (\S+ )*-race (\S+ )*\./\.\.\.( |$)`)
	govulncheck := regexp.MustCompile(`(?m)^\t\$\(GO\) run \$\(GOVULNCHECK\) `)
	steps := func(name string) bool {
		return regexp.MustCompile(`(?m)^(\w+=\S+ )*step ` + name + ` .*\b` + name + `$`).MatchString(ci)
	}
	result := func(what, goal, inMakefile, inCI string, made, run bool) row {
		var lacking []string
		if !made {
			lacking = append(lacking, inMakefile)
		}
		if !run {
			lacking = append(lacking, inCI)
		}
		measured := "yes"
		if len(lacking) > 0 {
			measured = "not in " + strings.Join(lacking, ", nor in ")
		}
		return row{what, goal, measured, verdictOf(len(lacking) == 0)}
	}
	// As it stands, since whatever else is done in it may be a way around the check. That the database is away ends the step as not run.
	const inCI = `
vulnerabilities() {
	if ! curl -sS --max-time 10 -o /dev/null https://vuln.go.dev/index/db.json; then
		echo "not run: vuln.go.dev can't be reached from here, so no vulnerability was looked for"
		exit "$absent"
	fi
	make --no-print-directory vuln
}
`
	return []row{
		result("the race detector is on", "for every package", "make test", ".ci/run", race.MatchString(recipe(makefile, "test")), steps("test")),
		result("known vulnerabilities are looked for", "by .ci/run", "make vuln", ".ci/run", govulncheck.MatchString(recipe(makefile, "vuln")), steps("vulnerabilities") && strings.Contains(ci, inCI)),
	}
}

// recipe is what make runs for a target, a line each.
func recipe(makefile, target string) string {
	found := regexp.MustCompile(`(?m)^` + target + `:.*\n((\t.*\n)*)`).FindStringSubmatch(makefile)
	if found == nil {
		return ""
	}
	return found[1]
}
