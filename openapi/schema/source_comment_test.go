package schema

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestSourceComments: notes to linters and tags of Javadoc, which generators copy into descriptions, leave the words that they hold
// (pains row 196).
func TestSourceComments(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Lists berths.\n\n(-- api-linter: core::0131::http-uri-name=disabled\n    aip.dev/not-precedent: We need it. --)", "Lists berths."},
		{"(-- api-linter: core::0203=disabled --)\nThe berth. (-- TODO: more --) Required.", "The berth.  Required."},
		{"a\n\n(-- internal --)\n\nb", "a\n\nb"},
		{"(-- api-linter: core::0131=disabled\naip.dev/not-precedent: cut", ""},
		{"(-- api-linter: cut\n\nLists berths.", "Lists berths."},
		{"(--verbose) and (-- dash", "(--verbose) and (-- dash"},
		{"run `tool (-- x --)` now", "run `tool (-- x --)` now"},
		{"See {@link com.shop.Order#total(int, String) the total} of {@link Order}.", "See the total of Order."},
		{"{@link #getTotal()}, {@linkplain com.shop.Order#total(int, String)}, {@link https://x.example/a}", "getTotal(), Order.total(int, String), https://x.example/a"},
		{"[the total]{@link Order#total} and {@link Order|an order}", "the total and an order"},
		{"may be {@code null} or {@code Map<{K}>}; {@literal a<b}", "may be `null` or `Map<{K}>`; a<b"},
		{"{@inheritDoc}Gets it. {@value #MAX}", "Gets it. MAX"},
		{"keep {@foo bar}, {@link open, {id} and `{@code x}`", "keep {@foo bar}, {@link open, {id} and `{@code x}`"},
	} {
		if got := Prose(tt.text, 0); got != tt.want {
			t.Errorf("Prose(%q)\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

// TestSourceCommentTime: no text takes more than a few passes.
func TestSourceCommentTime(t *testing.T) {
	for _, part := range []string{"(-- ", "(-- --", "(-- api-linter: ", "(-- api-linter:\n\n", "(-- x --)", "{@", "{@link ", "{@link x}", "{@code {", "]{@link x}", "[{@link x}]"} {
		text := strings.Repeat(part, 1<<20/len(part))
		if d := timebox.Fastest(2*time.Second, func() { Prose(text, 0) }); d > 2*time.Second {
			t.Errorf("%q repeated: %v", part, d)
		}
	}
}
