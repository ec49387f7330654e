package schema

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestProse: descriptions in HTML, as Stripe and others write them all, become plain text; what only looks like HTML
// stays (pains row 147).
func TestProse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain", "plain"},
		{"<p>Returns a <code>Charge</code>.</p>\n\n<p>See <a href=\"https://x.example/?a=1&amp;b=2\">the docs</a>.</p>", "Returns a `Charge`.\n\nSee the docs."},
		{"One<br>two<br/>three<BR />four", "One\ntwo\nthree\nfour"},
		{"Kinds:<ul><li>a</li><li><b>b</b> &amp; c</li></ul>Then", "Kinds:\n- a\n- b & c\nThen"},
		{"<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b"},
		{"<p>Kinds:</p>\n<ul>\n  <li>\n    <p>a</p>\n  </li>\n  <li>\n    <p>b</p>\n  </li>\n</ul>\n<p>Then</p>", "Kinds:\n\n- a\n- b\n\nThen"},
		{"<ul><li><p>a</p><p>more</p></li><li><div>b</div></li><li><br>c<br>d</li></ul>", "- a\n\nmore\n- b\n- c\nd"},
		{"<ul><li><p>a<li><p>b</ul>", "- a\n- b"},
		{"<ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li></li><li>c</li></ul>", "- a\n- b\n- c"},
		{"a - <p>b</p>", "a -\n\nb"},
		{"<table><tr><td><p>1</p></td><td><div>2</div></td></tr><tr><td>3<br>4<td>5</table><p>x</p><p>y</p>", "1 2\n3 4 5\n\nx\n\ny"},
		{"<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "A B\n1 2"},
		{"less &lt; more &gt; &quot;q&quot; &#39;x&#39; a&nbsp;b &#x2014;", "less < more > \"q\" 'x' a b \u2014"},
		{"GET /{owner}/<repo>, a<b and c>d, List<String>, x &copy=1 & y", "GET /{owner}/<repo>, a<b and c>d, List<String>, x &copy=1 & y"},
		{"use `<br>` or ``<b>`</b>`` here <i>now</i>", "use `<br>` or ``<b>`</b>`` here now"},
		{"| <nobr>`resize`</nobr> | a size |", "| `resize` | a size |"},
		{"open ` <b>tick</b>", "open ` tick"},
		{"a<script>alert(1)</script>b<style>p{}</style >c", "abc"},
		{"<p>unclosed <a href='x", "unclosed <a href='x"},
		{"&lt;!-- hidden --&gt;seen", "seen"},
		{"zero&#8203;width &#x1b;[31mred", "zerowidth red"},
		{"&amp;lt;b&amp;gt;", "&lt;b&gt;"},
		{"", ""},
	} {
		if got := Prose(tt.text, 0); got != tt.want {
			t.Errorf("Prose(%q)\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

// TestProseTime: no text takes more than a few passes.
func TestProseTime(t *testing.T) {
	for _, part := range []string{"<a \"", "<a href=\"", "<script></script>", "`a``b", "&", "&a", "<!--", "<!-- -->", "<li>", "<li><p>", "<td><p>", "</p"} {
		text := strings.Repeat(part, 1<<20/len(part))
		if d := timebox.Fastest(2*time.Second, func() { Prose(text, 0) }); d > 2*time.Second {
			t.Errorf("%q repeated: %v", part, d)
		}
	}
}

func FuzzProse(f *testing.F) {
	f.Add("<p>a<br>b</p> &amp; `x` <a href=\"y\">z</a>", 10)
	f.Fuzz(func(t *testing.T, text string, most int) {
		out := Prose(text, most)
		if unclean(out) {
			t.Errorf("Prose(%q) = %q, which is not clean", text, out)
		}
		if most > 0 && len([]rune(out)) > most {
			t.Errorf("Prose(%q, %d) = %q", text, most, out)
		}
	})
}

// TestLastPart: names of schemas that hold a package are shortened for "Returns …".
func TestLastPart(t *testing.T) {
	for name, want := range map[string]string{
		"io.k8s.api.core.v1.ConfigMap": "ConfigMap", "Contoso.Orders.Order": "Order", "Order": "Order", "Order.Item": "Order.Item",
		"a..b": "a..b", "v1.2.3": "v1.2.3", "List`1[[A.B.C]]": "List`1[[A.B.C]]",
	} {
		if got := lastPart(name); got != want {
			t.Errorf("lastPart(%q) = %q, want %q", name, got, want)
		}
	}
}
