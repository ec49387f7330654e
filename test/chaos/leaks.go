package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var leaks = figure{
	number: 23, name: "leaks and races are looked for",
	conditions: [3]string{scaled: "packages with tests, what make test and .ci/run do, and make vuln", full: "packages with tests, what make test and .ci/run do, and make vuln"},
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
		rows = append(rows, lookedFor(string(makefile), string(ci))...)
		more, err := s.vulnerabilities(ctx, "https://vuln.go.dev/index/db.json")
		return append(rows, more...), err
	},
}

// vulnerabilities looks for those that are known, where their database can be reached.
func (s *suite) vulnerabilities(ctx context.Context, database string) ([]row, error) {
	const what = "known vulnerabilities"
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(asking, http.MethodGet, database, nil)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	if resp, err := (&http.Client{Transport: transport}).Do(req); err != nil {
		return []row{{what, "none", "their database can't be reached", notMeasured}}, ctx.Err()
	} else if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	rows, _, err := s.target(ctx, what, "none", `No vulnerabilities found|affected by \d+ vulnerabilit\w+`, "vuln")
	return rows, err
}

// lookedFor returns whether the Makefile and .ci/run look for races in every package of the program, and for known vulnerabilities. The
// packages of test/ run without the race detector.
func lookedFor(makefile, ci string) []row {
	race := regexp.MustCompile(`(?m)^\t.*\$\(GO\) test (\S+ )*-race (\S+ )*\$\$\(\$\(GO\) list \./\.\.\. \| grep -v '\^drawbridge/test/'\)( |$)`)
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
		echo "not run: known vulnerabilities: vuln.go.dev can't be reached from here"
		exit "$absent"
	fi
	make --no-print-directory vuln
}
`
	return []row{
		result("the race detector is on", "for every package of the program", "make test", ".ci/run", race.MatchString(recipe(makefile, "test")), steps("test")),
		result("a step looks for known vulnerabilities", "in .ci/run", "make vuln", ".ci/run", govulncheck.MatchString(recipe(makefile, "vuln")), steps("vulnerabilities") && strings.Contains(ci, inCI)),
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
