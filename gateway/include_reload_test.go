package gateway_test

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

const (
	teamsMain = "apis: [{spec: core.yaml, name: core}]\n" +
		"include:\n" +
		"- {files: teams/a.yaml, name_prefix: a-, folder: teams/a, allow_addresses: [127.0.0.1]}\n" +
		"- {files: teams/b.yaml, name_prefix: b-, folder: teams/b, allow_addresses: [127.0.0.1]}\n"
	coreConfirms = "rules: [{match: {api: core}, set: {confirm: true}}]\n"
	teamConfirms = "rules: [{match: {method: GET}, set: {confirm: true}}]\n"
)

// teamFile returns the file of a team with one API.
func teamFile(team, rules string) string {
	return "apis: [{spec: " + team + "/doc.yaml, name: " + team + "-api, base_url: 'http://127.0.0.1:1'}]\n" + rules
}

// titled adds a rule that gives a tool a title.
func titled(rules, path, title string) string {
	return strings.TrimSuffix(rules, "]\n") + ", {match: {path: " + path + "}, set: {title: " + title + "}}]\n"
}

// teams runs a gateway with the files of two teams; the main file and team a ask for consent.
func teams(t *testing.T) (r *gatewaytest.Running, log *gatewaytest.Sink) {
	log = &gatewaytest.Sink{}
	r = gatewaytest.RunWith(t, map[string]string{
		"drawbridge.yaml": teamsMain + coreConfirms, "core.yaml": gatewaytest.Document("Core", "core"),
		"teams/a.yaml": teamFile("a", teamConfirms), "teams/a/doc.yaml": gatewaytest.Document("A", "anne"),
		"teams/b.yaml": teamFile("b", ""), "teams/b/doc.yaml": gatewaytest.Document("B", "bert"),
	}, gateway.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	r.Eventually("three APIs", func() bool { return len(r.Tools()) == 3 })
	return r, log
}

// TestHeldParts changes files of teams and the main file at once: those that open access are held on their own, and the others apply.
func TestHeldParts(t *testing.T) {
	const (
		a, b, core = "a-api_anne", "b-api_bert", "core_core"
		opensA     = "teams/a.yaml: apis: a-api: no consent is needed for calls of GET /anne"
		opensCore  = "drawbridge.yaml: apis: core: no consent is needed for calls of GET /core"
	)
	for _, tt := range []struct {
		name     string
		files    map[string]string
		held     []string // lines that tell what is held, without the directory
		confirm  []string // tools that ask for consent afterwards
		accepted []string // and once the change is accepted
	}{
		{"one team opens, another and the main file restrict", map[string]string{
			"teams/a.yaml": teamFile("a", ""), "teams/b.yaml": teamFile("b", teamConfirms), "drawbridge.yaml": teamsMain + titled(coreConfirms, "/core", "Core"),
		}, []string{opensA}, []string{a, b, core}, []string{b, core}},
		{"the main file opens, a team restricts", map[string]string{
			"drawbridge.yaml": teamsMain, "teams/b.yaml": teamFile("b", teamConfirms),
		}, []string{opensCore}, []string{a, b, core}, []string{a, b}},
		{"the main file and a team open", map[string]string{
			"drawbridge.yaml": teamsMain, "teams/a.yaml": teamFile("a", ""), "teams/b.yaml": teamFile("b", teamConfirms),
		}, []string{opensCore, opensA}, []string{a, b, core}, []string{b}},
		{"a team opens, and nothing else changes", map[string]string{"teams/a.yaml": teamFile("a", "")}, []string{opensA}, []string{a, core}, []string{core}},
		{"the main file takes a team out, another opens", map[string]string{
			"drawbridge.yaml": teamsMain[:strings.LastIndex(teamsMain, "- {files")] + coreConfirms, "teams/a.yaml": teamFile("a", ""),
		}, []string{opensA}, []string{a, core}, []string{core}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, log := teams(t)
			r.Write(tt.files)
			_ = timebox.Receive(t, submit(r, false)) // as a change of files
			if got := below(r, r.Status().Config.Opens); !slices.Equal(got, tt.held) {
				t.Errorf("held: %q\nwant %q", got, tt.held)
			}
			if got := confirmed(r); !slices.Equal(got, tt.confirm) {
				t.Errorf("ask for consent: %q, want %q", got, tt.confirm)
			}
			if w := gatewaytest.Do(r.Admin(), http.MethodGet, "/readyz?verbose", nil); !strings.Contains(w.Body.String(), filepath.Join(r.Dir, tt.held[0])) {
				t.Errorf("/readyz?verbose: %s", w.Body)
			}
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := confirmed(r); !slices.Equal(got, tt.accepted) || len(r.Status().Config.Opens) > 0 {
				t.Errorf("once accepted: %q, want %q; held: %q", got, tt.accepted, r.Status().Config.Opens)
			}
			if !strings.Contains(log.String(), `msg="accepted a configuration that grants more access"`) || !strings.Contains(log.String(), filepath.Join(r.Dir, tt.held[0])) {
				t.Errorf("the log does not name the files: %s", log)
			}
		})
	}
}

// TestHeldPartStays: a part that is held stays as it is in use when other files change again, and applies once it opens nothing.
func TestHeldPartStays(t *testing.T) {
	r, _ := teams(t)
	for _, change := range []map[string]string{
		{"teams/a.yaml": teamFile("a", ""), "teams/b.yaml": teamFile("b", teamConfirms)},
		{"teams/b.yaml": teamFile("b", titled(teamConfirms, "/bert", "Bert"))},
	} {
		r.Write(change)
		_ = timebox.Receive(t, submit(r, false))
		if got := confirmed(r); len(got) != 3 || len(r.Status().Config.Opens) != 1 {
			t.Fatalf("after %q: ask for consent: %q, held: %q", change, got, r.Status().Config.Opens)
		}
	}
	// Nobody requests this one: the file that is held is watched.
	r.Write(map[string]string{"teams/a.yaml": teamFile("a", titled(teamConfirms, "/anne", "Anne"))})
	r.Eventually("the corrected file is in use", func() bool {
		return len(r.Status().Config.Opens) == 0 && r.Current().Main.Plan("a-api_anne").Tool.Title == "Anne"
	})
}

// confirmed lists the tools that ask for consent, sorted.
func confirmed(r *gatewaytest.Running) (names []string) {
	for _, tool := range r.Tools() {
		if r.Current().Main.Plan(tool).Consent.Needed {
			names = append(names, tool)
		}
	}
	slices.Sort(names)
	return names
}

// below returns lines without the directory of the configuration.
func below(r *gatewaytest.Running, lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, strings.ReplaceAll(line, r.Dir+"/", ""))
	}
	return out
}
