package wire

import (
	"net/url"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
)

// TestSlashesStayBelowTheBase checks that where slashes are allowed, no spelling of a dot segment passes, for any
// number of decodings by a server and the proxies in front of it, for any separator, and at any position in a value or
// across two adjacent values (R2).
func TestSlashesStayBelowTheBase(t *testing.T) {
	dots := []string{"..", ".", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%25252e.", "..;x=y", "..;", "%2e%2e;a", "%c0%ae%c0%ae", "\xc0\xae.", "%25c0%25ae.", "..%00", "..\x00", "..%0d%0a", "..\t"}
	separators := []string{"/", `\`, "%2f", "%5c", "%252f", "%255c", "%2F", "%25252f", "//", "/./", "%c0%af"}
	for _, mode := range []struct {
		slash         Slash
		allowReserved bool
	}{{SlashRaw, false}, {SlashRaw, true}, {SlashEncoded, false}, {SlashEncoded, true}, {SlashEscaped, false}, {SlashEscaped, true}} {
		for _, path := range []string{"/v/{a}", "/v/{a}{b}", "/v/{a}/x/{b}", "/v/x{a}", "/v/{a}.json"} {
			template, err := ParseTemplate(path)
			if err != nil {
				t.Fatal(err)
			}
			e, err := NewEncoder(Parameter{Name: "a", In: Path, Style: Simple, Slash: mode.slash, AllowReserved: mode.allowReserved})
			if err != nil {
				t.Fatal(err)
			}
			sent := func(a, b string) {
				values := []string{a, b}
				out, err := template.Append(nil, func(i int, dst []byte) ([]byte, error) {
					return e.AppendPath(dst, jsonscan.AppendString(nil, values[i]))
				})
				if err != nil {
					return
				}
				if mode.slash != SlashRaw && (strings.Count(string(out), "/") != strings.Count(path, "/") || strings.Contains(strings.ToUpper(string(out)), "%5C")) {
					t.Fatalf("%s of %q and %q is sent as %s, which are other segments", path, a, b, out)
				}
				for text, n := string(out), 0; n <= maxDecodings; n++ {
					text = strings.ReplaceAll(text, `\`, "/")
					for segment := range strings.SplitSeq(text, "/") {
						if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." {
							t.Fatalf("%s of %q and %q is sent as %s, and read as %s", path, a, b, out, text)
						}
					}
					broken := strings.ContainsAny(text, "\r\n\x00")
					for i := range len(text) {
						broken = broken || overlong([]byte(text[i:]))
					}
					if broken {
						t.Fatalf("%s of %q and %q is sent as %s, and read as %q", path, a, b, out, text)
					}
					decoded, err := url.PathUnescape(text)
					if err != nil || decoded == text {
						break
					}
					text = decoded
				}
			}
			for _, dot := range dots {
				sent(dot, "b")
				for _, separator := range separators {
					for _, value := range []string{dot + separator + "x", "x" + separator + dot, "x" + separator + dot + separator + "x", separator + dot + separator, dot + separator + dot} {
						sent(value, "b")
						sent("b", value)
						for cut := range len(value) { // two values make it together
							sent(value[:cut], value[cut:])
							sent("x/"+value[:cut], value[cut:]+"/x")
						}
					}
				}
			}
		}
	}
}
