package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/jsonscan"
)

// secretForms returns the forms of secrets, each followed by its replacement, and the length of the longest.
func secretForms(credentials []*config.Credential) (pairs []string, longest int) {
	for _, c := range credentials {
		if c == nil {
			continue
		}
		for _, secret := range secretsOf(c) {
			basic := base64.StdEncoding.EncodeToString(basicPair(c, secret))
			for _, form := range append(spellings(secret), spellings(basic)...) {
				pairs, longest = append(pairs, form, Placeholder), max(longest, len(form))
			}
		}
	}
	return pairs, longest
}

// spellings returns a secret unchanged, as encoded in a URL, and as encoders of JSON and XML write it. In JSON, PHP
// escapes the slash, .NET some characters of HTML and the plus, Go some characters of HTML. In XML, most leave quotes
// between tags unescaped, and some also the greater-than sign.
func spellings(secret string) []string {
	plain := string(jsonscan.AppendEscaped(nil, []byte(strings.ToValidUTF8(secret, "\uFFFD"))))
	dotNET := strings.NewReplacer(`\"`, `\u0022`, `&`, `\u0026`, `'`, `\u0027`, `<`, `\u003C`, `>`, `\u003E`, `+`, `\u002B`, "`", `\u0060`)
	goJSON, _ := json.Marshal(secret) // a string always has a JSON form
	all := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), plain, strings.ReplaceAll(plain, "/", `\/`), dotNET.Replace(plain), string(goJSON[1 : len(goJSON)-1]),
	}
	if strings.ContainsAny(secret, `&<>"'`) {
		text := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(secret)
		all, text = append(all, text), strings.ReplaceAll(text, ">", "&gt;")
		for _, apostrophe := range []string{"'", "&apos;", "&#39;", "&#039;", "&#x27;"} {
			single := strings.ReplaceAll(text, "'", apostrophe)
			all = append(all, single, strings.ReplaceAll(single, `"`, "&quot;"), strings.ReplaceAll(single, `"`, "&#34;"))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// secretsOf returns the secrets of a credential that the configuration contains.
func secretsOf(c *config.Credential) []string {
	return slices.DeleteFunc([]string{c.Token.Reveal(), c.Password.Reveal(), c.Value.Reveal(), c.ClientSecret.Reveal(), c.SecretAccessKey.Reveal(), c.SessionToken.Reveal()}, func(s string) bool { return s == "" })
}

// basicPair returns the text that Basic authentication encodes.
func basicPair(c *config.Credential, secret string) []byte {
	if c.Type.IsOAuth() {
		return []byte(url.QueryEscape(c.ClientID) + ":" + url.QueryEscape(secret)) // RFC 6749 section 2.3.1
	}
	return []byte(c.Username + ":" + secret)
}
