package ecmaregexp

import (
	"regexp"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, js, matches, refuses string }{
		{`^[\w\-\.]+\@[\w-.]+$`, `^[\w\-\.]+@[\w\-.]+$`, "a-b@c.d", "a b@c"},
		{`/^[a-z]+$/`, `^[a-z]+$`, "abc", "/abc/"},
		{`/^[a-z]+$/i`, `^[a-zA-Z]+$`, "aBc", "/abc/i"},
		{`/^SAP[0-9]{9}$/i`, `^[Ss][Aa][Pp][0-9]{9}$`, "sap123456789", "SAP"},
		{`/magnet:\?xt=[A-c]/i`, `[mM][aA][gG][nN][eE][tT]:\?[xX][tT]=[A-cA-Ca-z]`, "Magnet:?xt=B", "/magnet:xt/i"},
		{`/^a\/b/gu`, `^a\/b`, "a/b", "/a/b"},
		{`/[a-z]+/`, `/[a-z]+/`, "/abc/", "abc"},
		{`/users/[0-9]+/i`, `/users/[0-9]+/i`, "/users/1/i", "users/1"},
		{`/plain/i`, `/plain/i`, "/plain/i", "plain"},
		{`(?i)ab[^c.-]`, `[aA][bB][^cC.\-]`, "AbD", "ABC"},
		{`\A\d{4}\Z`, `^\d{4}$`, "2026", "20266"},
		{`^\d{4}\z`, `^\d{4}$`, "2026", "2026\n"},
		{`^{id}$`, `^\{id\}$`, "{id}", "id"},
		{`^[[:alpha:]-]+$`, `^[a-zA-Z\-]+$`, "a-b", ":"},
		{`^\s$`, `^\s$`, "\u00a0", "x"},
		{`^[^\S]$`, `^[^\S]$`, "\u2028", "x"},
		{`^.$`, `^.$`, "é", "\r"},
		{`^[^]$`, `^[^]$`, "\n", ""},
		{`^\u00e9\x41\cA$`, `^\u00e9\x41\cA$`, "éA\x01", "eA\x01"},
		{`^\ud83d\ude00$`, `^\ud83d\ude00$`, "😀", "x"},
		{`^\p{Lu}\p{Latin}$`, `^\p{Lu}\p{Script=Latin}$`, "Aa", "aa"},
		{`^a\/b$`, `^a\/b$`, "a/b", `a\/b`},
		{`^\"\'\#\ \_\-$`, `^"'# _-$`, `"'# _-`, `\"`},
		{`^(?P<y>a)(?<z>b)$`, `^(?<y>a)(?<z>b)$`, "ab", "a"},
		{`^[a\]^&-]+$`, `^[a\]^&\-]+$`, "]^&-", "b"},
	} {
		p, err := Parse(tt.in)
		if err != nil || p.JavaScript != tt.js {
			t.Errorf("%q becomes %q, %v; want %q", tt.in, p.JavaScript, err, tt.js)
			continue
		}
		re, err := regexp.Compile(p.RE2)
		if err != nil || p.RE2 == "" {
			t.Errorf("%q becomes %q for Go: %v", tt.in, p.RE2, err)
			continue
		}
		if !re.MatchString(tt.matches) || re.MatchString(tt.refuses) {
			t.Errorf("%q: %q must match and %q must not", p.RE2, tt.matches, tt.refuses)
		}
	}
}

// TestParseShownOnly: what Go can't do, or only with a program that is too large, is not checked (L9).
func TestParseShownOnly(t *testing.T) {
	for _, in := range []string{`^(?!a)`, `(?<=a)b`, `(a)\1`, `a{1001}`, `(?:(?:a{100}){100}){10}`, `[\ud800-\udbff]`, `\p{Alphabetic}`} {
		if p, err := Parse(in); err != nil || p.JavaScript != in || p.RE2 != "" {
			t.Errorf("%q becomes %+v, %v", in, p, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		`a(?i)a`:       "at character 4: a group of this kind does not exist in JavaScript",
		`/^a.b$/ms`:    `JSON Schema knows no flags, such as "ms"`,
		`a++`:          `at character 3: nothing to repeat before '+'`,
		`(?!a)*`:       `at character 6: nothing to repeat before '*'`,
		`^{2}`:         `at character 2: nothing to repeat before '{'`,
		`(a`:           "at character 3: a group is not closed",
		`a)`:           `at character 2: unmatched ')'`,
		`[a`:           "at character 3: a class is not closed",
		`[z-a]`:        `at character 5: the range "z-a" is out of order`,
		`a{3,2}`:       `at character 2: the numbers of "{3,2}" are out of order`,
		`\h`:           `at character 3: JavaScript does not know the escape "\\h"`,
		`é\h`:          `at character 4: JavaScript does not know the escape "\\h"`,
		`\`:            `at character 2: a \ stands at the end`,
		`\u12`:         `at character 3: "\u" is not followed by four hexadecimal digits`,
		`\p{Nope}`:     `at character 9: JavaScript does not know the Unicode property "Nope"`,
		`(?<a>)(?<a>)`: `at character 10: two groups are named "a"`,
		`(?<1>)`:       `at character 4: "1" is not the name of a group`,
		`\2(a)`:        "it refers to group 2 of 1",
	} {
		if _, err := Parse(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
