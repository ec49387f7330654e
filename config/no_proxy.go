package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// NoProxy lists hosts that are called without the proxy, in the syntax of NO_PROXY.
type NoProxy []string

func (NoProxy) expects() string { return "a string or a list of strings" }

// everyHost is the entry that matches all hosts.
const everyHost = "*"

// String returns the list in the syntax of NO_PROXY.
func (n NoProxy) String() string { return strings.Join(n, ",") }

// read reads a list, or a string with commas.
func (n *NoProxy) read(l *loader, node *yaml.Node, key string) {
	var entries []string
	keyOf := func(int) string { return key }
	switch node.Kind {
	case yaml.SequenceNode:
		l.list(node, reflect.ValueOf(&entries).Elem(), key)
		keyOf = func(i int) string { return fmt.Sprintf("%s[%d]", key, i) }
	case yaml.ScalarNode:
		var text string
		l.scalar(node, reflect.ValueOf(&text).Elem(), key, field{})
		entries = splitNoProxy(text)
	default:
		l.mismatch(node, reflect.TypeFor[NoProxy](), key)
		return
	}
	if len(entries) == 0 && l.ok(key) {
		l.errorf(key, "is empty; leave it out, or name a host")
	}
	for i, entry := range entries {
		k := keyOf(i)
		switch err := checkNoProxy(entry); {
		case !l.ok(k):
		case err != nil:
			l.errorf(k, "%s %s", quote(entry), err)
		case slices.Contains(entries[:i], entry):
			l.errorf(k, "%s is listed twice", quote(entry))
		}
	}
	*n = entries
}

// splitNoProxy splits a value of NO_PROXY.
func splitNoProxy(text string) (entries []string) {
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// checkNoProxy rejects an entry that would match nothing, or other hosts than it seems to.
func checkNoProxy(entry string) error {
	switch {
	case entry == everyHost:
		return errors.New("matches every host; write proxy: off")
	case strings.Contains(entry, "://"):
		return errors.New("must be a host, not a URL")
	case strings.ContainsAny(entry, ", \t"):
		return errors.New("must be one host: list each separately")
	case strings.Contains(entry, "/"):
		var n Network
		return n.parse(entry)
	}
	host := entry
	if h, port, err := net.SplitHostPort(entry); err == nil {
		if host = h; port == "" || !goodPort(port) {
			return errors.New("has a bad port")
		}
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" {
		return nil
	}
	host = strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	switch {
	case strings.Contains(host, "*"):
		return errors.New("has a * in the wrong place: only *.example.com is possible, for all hosts below example.com")
	case !goodHostname(host):
		return errors.New("must be a host name, an IP address or a network such as 10.0.0.0/8")
	}
	return nil
}
