package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReport holds what a run ends with: each survivor has a reason, and each reason a survivor.
func TestReport(t *testing.T) {
	g := group{name: "guard", dir: "gateway/upstream", files: []string{"ssrf.go"}}
	change := &point{file: "gateway/upstream/ssrf.go", function: "allowed", line: 7, change: "a == b → !="}
	other := &point{file: "gateway/upstream/ssrf.go", function: "allowed", line: 9, change: "a == b → !=", ordinal: 2}
	survived := result{group: g, points: 20, killed: 19, survived: []survivor{{change, true}}, took: time.Second}
	all := regexp.MustCompile("")
	for _, tt := range []struct {
		name    string
		result  result
		known   reasons
		chosen  *regexp.Regexp
		goal    float64
		printed string // among others
		wrong   string
	}{
		{"a reason is known", survived, reasons{change.name(): "both are the same"}, all, 95,
			"survived: gateway/upstream/ssrf.go allowed: a == b → !=\n\tline 7: both are the same\n", ""},
		{"the line of figures", survived, reasons{change.name(): "both are the same"}, all, 95,
			"guard            20       19          0          1        1    95.0%  (1 s)\n", ""},
		{"no reason", survived, nil, all, 90, "\tline 7: NO REASON KNOWN\n", "guard: 1 survive without a reason"},
		{"not reached", result{group: g, points: 1, survived: []survivor{{change, false}}}, nil, all, 0,
			"\tline 7: NO REASON KNOWN, and no test reaches it\n", "guard: 1 survive without a reason"},
		{"no survivor", result{group: g, points: 1, killed: 1}, reasons{other.name(): "old"}, all, 90, "100.0%",
			"a reason is given for what does not survive: gateway/upstream/ssrf.go allowed: a == b → != (2)"},
		{"not chosen", result{group: g, points: 1, killed: 1}, reasons{other.name(): "old"}, regexp.MustCompile("refused"), 90, "100.0%", ""},
		{"a sample", result{group: g, points: 1, killed: 1}, reasons{other.name(): "old"}, nil, 90, "100.0%", ""},
		{"of another group", result{group: g, points: 1, killed: 1}, reasons{"auth/jwt.go verify: x": "old"}, all, 90, "100.0%", ""},
		{"too few", survived, reasons{change.name(): "both are the same"}, all, 95.1, "95.0%", "guard: tests notice 95.0 %, less than 95 %"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			err := report(&b, []result{tt.result}, tt.known, tt.chosen, tt.goal)
			if !strings.Contains(b.String(), tt.printed) {
				t.Errorf("printed:\n%s\nwant %q in it", b.String(), tt.printed)
			}
			if got := text(err); got != tt.wrong {
				t.Errorf("error %q, want %q", got, tt.wrong)
			}
		})
	}
}

// TestReasons holds the form of the file of reasons.
func TestReasons(t *testing.T) {
	for content, want := range map[string]string{
		"# of both\n\nauth/jwt.go f: x\n\tit is the same\n\nopenapi/request_body.go g: y (2)\n\tspeed\n": "",
		"auth/jwt.go f: x\n":                            "survivors.txt:1: the change has no reason",
		"auth/jwt.go f: x\nauth/jwt.go f: y\n\tspeed\n": "survivors.txt:2: expected the name of a change, and its reason, indented by a tab, on the next line",
		"\tspeed\n": "survivors.txt:1: expected the name of a change, and its reason, indented by a tab, on the next line",
		"auth/jwt.go f: x\n\tone\nauth/jwt.go f: x\n\ttwo\n":    "survivors.txt:3: the change has a reason already",
		"auth/jwt.go f: x\n\tone\ngateway/state.go f: x\n\t2\n": `a reason is given for "gateway/state.go f: x", and no group has that file`,
	} {
		name := filepath.Join(t.TempDir(), "survivors.txt")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		known, err := readReasons(name)
		if err == nil {
			err = known.placed(groups)
		}
		if got := strings.TrimPrefix(text(err), filepath.Dir(name)+"/"); got != want {
			t.Errorf("%q: error %q, want %q", content, got, want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
