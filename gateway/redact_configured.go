package gateway

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// redactor takes the secrets of credentials out of a text, in the forms in which a request carries them and a service may write them; longest
// is the length of the longest of these. Nil: there are none.
func redactor(credentials ...*config.Credential) (r *strings.Replacer, longest int) {
	pairs, longest := secretForms(credentials)
	if pairs == nil {
		return nil, 0
	}
	return strings.NewReplacer(pairs...), longest
}

// secretForms returns the forms of secrets, each with what takes its place behind it, and the length of the longest.
func secretForms(credentials []*config.Credential) (pairs []string, longest int) {
	for _, c := range credentials {
		if c == nil {
			continue
		}
		for _, secret := range secretsOf(c) {
			basic := base64.StdEncoding.EncodeToString(basicPair(c, secret))
			for _, form := range append(spellings(secret), spellings(basic)...) {
				pairs, longest = append(pairs, form, redacted), max(longest, len(form))
			}
		}
	}
	return pairs, longest
}

// spellings returns a secret as it is, as it stands in a URL, and as writers of JSON and XML have it. PHP's escapes the slash in JSON, that of .NET
// some signs of HTML and the plus, Go's some signs of HTML. In XML most leave quotes alone between tags, some the greater-than sign, too.
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

// secretsOf returns the secrets of a credential that stand in the configuration.
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

// concealer takes out of what operators see of a document what must not be there: the API's secrets, and the query of the
// document's URL, which may hold a key. The URL stands in front of every place in the document, and the page or the server
// behind it may repeat what it was asked. What is shorter than shortestEcho is let alone: it may be any word of the
// document. Nil: there is nothing to hide.
func concealer(location string, credentials ...*config.Credential) *strings.Replacer {
	var pairs []string
	hide := func(text, by string) {
		pairs = append(pairs, text, by)
		if quoted := strconv.Quote(text); quoted[1:len(quoted)-1] != text {
			pairs = append(pairs, quoted[1:len(quoted)-1], by)
		}
	}
	forms, _ := secretForms(credentials)
	for pair := range slices.Chunk(forms, 2) {
		if len(pair[0]) >= shortestSecret {
			hide(pair[0], pair[1])
		}
	}
	_, query, _ := strings.Cut(location, "?")
	if query, _, _ = strings.Cut(query, "#"); query != "" {
		hide("?"+query, "?…")
		if len(query) >= shortestSecret {
			hide(query, "…")
		}
		values, _ := url.ParseQuery(query) // what can't be read was hidden as a whole
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, value := range values[name] {
				for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value)} {
					if len(value) >= shortestSecret {
						hide(form, "…")
					}
				}
			}
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// conceal returns a text without what r takes out of it; r may be nil.
func conceal(r *strings.Replacer, text string) string {
	if r == nil || text == "" {
		return text
	}
	return r.Replace(text)
}

// concealed returns an error of reading the document, which goes to the log and to the admin listener, as it may be seen.
func (s *source) concealed(err error) error {
	if err == nil {
		return nil
	}
	if text := conceal(s.redact, conceal(s.conceal, err.Error())); text != err.Error() {
		return &hiddenError{text: text, err: err}
	}
	return err
}

// reserved names what the gateway itself sends to the service of an API, so that no argument can (R5, R7).
func reserved(c config.API) []openapi.Reserved {
	var all []openapi.Reserved
	for _, k := range credentialsOf(c) {
		if k.Type == config.CredentialAPIKey && k != c.SpecCredential {
			all = append(all, openapi.Reserved{In: string(k.In), Name: k.Name})
		}
		if k.Type == config.CredentialAWSSigV4 && k != c.SpecCredential {
			// Documents of AWS's own APIs have them as parameters. In the query they would make a request one that is signed there.
			for _, name := range []string{"X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders"} {
				all = append(all, openapi.Reserved{In: "header", Name: name}, openapi.Reserved{In: "query", Name: name})
			}
		}
	}
	for _, h := range c.PassHeaders {
		all = append(all, openapi.Reserved{In: "header", Name: h.To})
	}
	if c.Identity != nil {
		all = append(all, openapi.Reserved{In: "header", Name: c.Identity.HeaderName()})
	}
	return all
}

// display is a document's location without what may be secret in it.
func display(location string) string {
	if before, _, found := strings.Cut(location, "?"); found {
		return before + "?…"
	}
	return location
}

// hiddenError is an error that shows another text.
type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }
