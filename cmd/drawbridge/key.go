package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/auth"
	"drawbridge/config"
)

func (p *program) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "key",
		Short:   "Make keys for callers that have no token, such as scripts",
		Example: "  drawbridge key new nightly-report",
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.keyNewCommand())
	return c
}

// keyEntry is an entry of auth.keys as flags have it.
type keyEntry struct {
	principal, expires        string
	groups, scopes, addresses []string
}

func (p *program) keyNewCommand() *cobra.Command {
	var e keyEntry
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a key, and the entry of auth.keys that accepts it",
		Long: `New makes an API key with 168 random bits. It prints the key on standard output, once, and the entry for auth.keys with its
hash on standard error: no command can print the key again. Callers send it as "Authorization: Bearer KEY" or "X-API-Key: KEY".

To replace a key, make another, and list both hashes in the entry until all callers have the new one.

Exit codes: 0 on success; 2 on bad usage.`,
		Example: `  drawbridge key new nightly-report --scopes orders:read --expires 90d
  drawbridge key new ci --scopes orders:read,orders:write --addresses 10.0.0.0/8 > ci.key`,
	}
	c.Flags().StringVar(&e.principal, "principal", "", "`NAME` of the caller (default: the name of the key)")
	c.Flags().StringSliceVar(&e.scopes, "scopes", nil, "scopes of the caller")
	c.Flags().StringSliceVar(&e.groups, "groups", nil, "groups of the caller")
	c.Flags().StringSliceVar(&e.addresses, "addresses", nil, "networks from which the key is accepted (default: all)")
	c.Flags().StringVar(&e.expires, "expires", "", "when the key expires: a date, a time, or a number of days such as 90d (default: never)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{errors.New("key new: give one name for the key"), c}
		}
		return p.newKey(c, args[0], &e)
	}
	return c
}

// newKey prints a key and its entry.
func (p *program) newKey(c *cobra.Command, name string, e *keyEntry) error {
	key := auth.NewAPIKey()
	entry := e.text(name, config.NewKeyHash(auth.HashAPIKey(key)), time.Now())
	parsed, problems := config.ParseAPIKey([]byte(entry))
	for _, problem := range problems {
		fmt.Fprintf(p.stderr, "key new: %s: %s\n", problem.Key, problem.Message)
	}
	if parsed == nil {
		return usageError{errors.New("key new: no key was made"), c}
	}
	fmt.Fprintf(p.stderr, "This is the key. It is not shown again:\n\n")
	if _, err := fmt.Fprintln(p.stdout, key); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "\nAdd this entry to auth.keys, which accepts it by its hash:\n\n  - %s\n", entry)
	return nil
}

// text returns the entry as YAML.
func (e *keyEntry) text(name string, hash config.KeyHash, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{name: %s, hash: %q", quoted(name), hash)
	if e.principal != "" {
		b.WriteString(", principal: " + quoted(e.principal))
	}
	for _, list := range []struct {
		key   string
		texts []string
	}{{"groups", e.groups}, {"scopes", e.scopes}, {"addresses", e.addresses}} {
		if len(list.texts) == 0 {
			continue
		}
		texts := make([]string, len(list.texts))
		for i, text := range list.texts {
			texts[i] = quoted(text)
		}
		fmt.Fprintf(&b, ", %s: [%s]", list.key, strings.Join(texts, ", "))
	}
	if e.expires != "" {
		b.WriteString(", expires: " + quoted(expiryDate(e.expires, now)))
	}
	return b.String() + "}"
}

// expiryDate returns the date after a number of days, or text if it is none.
func expiryDate(text string, now time.Time) string {
	digits, found := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(digits)
	if !found || err != nil || days <= 0 || days > 100*366 {
		return text
	}
	return now.UTC().AddDate(0, 0, days).Format(time.DateOnly)
}
