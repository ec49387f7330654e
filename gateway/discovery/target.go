package discovery

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"drawbridge/config"
	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

// Target is one service as its registry describes it.
type Target struct {
	config.Service
	// Scheme is http or https.
	Scheme string
	// BasePath is the path of the base URL, percent-encoded: one that begins with /; "" if the registration names none, so that the
	// document decides.
	BasePath string
	// AtRoot reports whether the registration gives a base URL without a path. [Manager] sets it for the base path /.
	AtRoot bool `json:",omitempty"`
	// ContextPath is the path at which the registration shows that the service is, without naming its base path: see [ContextPath].
	ContextPath string `json:",omitempty"`
	// Instances are the addresses, host:port, that calls go to, at least one. Their order has no meaning.
	Instances []string
	// Revisions show that an instance was restarted at the address that it had, or when instances behind an address have changed: texts
	// whose order has no meaning; none if the registry doesn't show that.
	Revisions []string `json:",omitempty"`
	// Shared reports whether an address is that of several instances, any of which may get a request.
	Shared bool `json:",omitempty"`
	// Document is where the OpenAPI document is: a URL, or a path that begins with / on the instances; "" if the registration
	// doesn't say.
	Document string
	// Text is the document, if the registry keeps it; then Document is "". A text that changes is a document that changes.
	Text []byte `json:"-"`
	// Problem is why the service can't be served, if its provider knows; else "".
	Problem string
}

// Limits of what a registration may say.
const (
	maxServiceName = 253 // bytes of a name or namespace, as those of a DNS name
	maxLabels      = 64
	maxLabel       = 1024 // bytes
	maxInstances   = 1000
)

// key identifies a service of a provider. Both texts may contain any character, so that no separator could be used.
type key struct{ namespace, name string }

func (t *Target) key() key { return key{t.Namespace, t.Name} }

// String names the service for operators: NAMESPACE/NAME, or NAME without a namespace.
func (k key) String() string { return strings.TrimPrefix(k.namespace+"/"+k.name, "/") }

func (k key) compare(other key) int {
	return cmp.Or(strings.Compare(k.namespace, other.namespace), strings.Compare(k.name, other.name))
}

// normalize sorts what has no order, so that equal targets compare equal.
func (t *Target) normalize() {
	t.Instances = slices.Compact(slices.Sorted(slices.Values(t.Instances)))
	t.Tags = slices.Compact(slices.Sorted(slices.Values(t.Tags)))
	if path := strings.TrimRight(t.BasePath, "/"); path != t.BasePath {
		t.BasePath, t.AtRoot = path, path == ""
	}
	t.Revisions = slices.Compact(slices.Sorted(slices.Values(t.Revisions)))
}

// isDown reports whether nothing but its instances keeps the service from being served.
func (t *Target) isDown() bool { return t.Problem != "" || len(t.Instances) == 0 }

// check returns an error if the registration can't be served as it is.
func (t *Target) check(allow []config.Origin) error {
	switch {
	case t.Name == "":
		return errors.New("the service has no name")
	case t.Problem != "":
		return errors.New(t.Problem)
	case len(t.Labels) > maxLabels || len(t.Tags) > maxLabels:
		return fmt.Errorf("the service has %d labels and %d tags; at most %d of each are allowed", len(t.Labels), len(t.Tags), maxLabels)
	case len(t.Instances) == 0:
		return errors.New("the service has no instance")
	case len(t.Instances) > maxInstances:
		return fmt.Errorf("the service has %d instances; at most %d are allowed", len(t.Instances), maxInstances)
	case t.Scheme != "http" && t.Scheme != "https":
		return fmt.Errorf("expected http or https as the scheme, got %.20q", t.Scheme)
	}
	for what, text := range map[string]string{"name": t.Name, "alias": t.Alias, "namespace": t.Namespace} {
		if err := checkText(text, maxServiceName); err != nil {
			return fmt.Errorf("the %s of the service %w", what, err)
		}
	}
	for name, value := range t.Labels {
		if err := errors.Join(checkText(name, maxLabel), checkText(value, maxLabel)); err != nil {
			return fmt.Errorf("the label %.40q %w", name, err)
		}
	}
	if err := checkPath(t.BasePath); err != nil {
		return fmt.Errorf("the base path of the service: %w", err)
	}
	for _, instance := range t.Instances {
		if err := checkInstance(t.Scheme, instance, allow); err != nil {
			return err
		}
	}
	return t.checkDocument()
}

// isAnother reports whether the document of another registration of the service is looked for again.
func (t *Target) isAnother(next *Target) bool {
	return t.Document != next.Document || t.Scheme != next.Scheme || t.BasePath != next.BasePath || !bytes.Equal(t.Text, next.Text)
}

// checkText refuses what can't be shown as it is: a name is printed in logs, pages and terminals.
func checkText(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("has %d bytes, more than %d", len(text), most)
	case !utf8.ValidString(text):
		return errors.New("is not valid UTF-8")
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("has characters that can't be printed")
	}
	return nil
}

// printable returns a text of a registration that was not checked, or was refused, as it can be shown: on one line, of a length that
// a name may have.
func printable(raw string) string {
	return text.Truncate(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, raw), maxServiceName)
}

func checkPath(path string) error {
	if path == "" {
		return nil
	}
	u, err := url.Parse(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		slices.ContainsFunc(strings.Split(u.EscapedPath(), "/"), isDots) || slices.ContainsFunc(strings.Split(u.Path, "/"), isDots) {
		return fmt.Errorf("expected a path that begins with /, without query and dot segments, got %.100q", path)
	}
	return nil
}

// isDots reports whether a segment of a path is a dot segment, or holds one behind an encoded separator.
func isDots(segment string) bool {
	text, err := url.PathUnescape(segment)
	return err != nil || slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }),
		func(s string) bool { return s == "." || s == ".." })
}

// checkInstance checks an address. Whether its IP address is allowed is decided when it is dialed, after name resolution.
func checkInstance(scheme, instance string, allow []config.Origin) error {
	u, err := url.Parse(scheme + "://" + instance)
	if err != nil || checkText(instance, maxServiceName+6) != nil || u.Host != instance || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("expected host:port as the address of an instance, got %.100q", instance)
	}
	if port := u.Port(); port == "" && strings.HasSuffix(u.Host, ":") {
		return fmt.Errorf("expected host:port as the address of an instance, got %.100q", instance)
	} else if port != "" {
		if _, err := netip.ParseAddrPort("127.0.0.1:" + port); err != nil {
			return fmt.Errorf("the address %.100q has no valid port", instance)
		}
	}
	if len(allow) > 0 && !slices.Contains(allow, config.Origin(originOf(u))) {
		return fmt.Errorf("the server %s is not one of allow_servers", originOf(u))
	}
	return nil
}

// originOf returns the origin of a URL as the configuration writes origins: without the default port.
func originOf(u *url.URL) string {
	o, _ := origin.Of(u)
	return o.String()
}

func (t *Target) checkDocument() error {
	if t.Document == "" || strings.HasPrefix(t.Document, "/") && checkPath(t.Document) == nil {
		return nil
	}
	u, err := url.Parse(t.Document)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || len(t.Document) > 2048 {
		return fmt.Errorf("expected the URL of a document, or a path that begins with /, got %.100q", t.Document)
	}
	return nil
}
