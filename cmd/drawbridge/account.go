package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
	"drawbridge/gateway/account"
)

func (p *program) accountCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "account",
		Short: "List and revoke the accounts that users have connected at services",
		Long: `Account works on the accounts that users have connected for credentials of type authorization_code. It reads server.state_dir
or state.redis of the configuration, beside a running gateway, for which a revocation counts at once.`,
		Example: "  drawbridge account list",
	}
	list := &cobra.Command{
		Use: "list --config FILE", Short: "List the accounts", Args: cobra.NoArgs,
		Example: "  drawbridge account list --config drawbridge.yaml",
	}
	list.RunE = p.interruptible(func(c *cobra.Command, _ []string) error { return p.listAccounts(c) })
	var match account.Account
	revoke := &cobra.Command{
		Use: "revoke --config FILE", Short: "Revoke accounts, here and at the service", Args: cobra.NoArgs,
		Long: `Revoke removes the accounts that match all flags, at least one of which is required, and revokes their tokens at the service
if the credential has a revoke_url. The next call of the user asks for the account again.`,
		Example: "  drawbridge account revoke --config drawbridge.yaml --subject alice",
	}
	revoke.Flags().StringVar(&match.ID, "id", "", "the account with this ID")
	revoke.Flags().StringVar(&match.API, "api", "", "accounts of this API")
	revoke.Flags().StringVar(&match.Issuer, "issuer", "", "accounts of users of this issuer")
	revoke.Flags().StringVar(&match.Subject, "subject", "", "accounts of the user with this subject")
	revoke.RunE = p.interruptible(func(c *cobra.Command, _ []string) error { return p.revokeAccounts(c, &match) })
	for _, sub := range []*cobra.Command{list, revoke} {
		p.configFlag(sub)
		sub.ValidArgsFunction = nil
		c.AddCommand(sub)
	}
	return c
}

// openAccounts returns the accounts of the configuration of a command.
func (p *program) openAccounts(c *cobra.Command) (*gateway.Accounts, error) {
	location, _, err := p.location(c, nil, 0)
	if err != nil {
		return nil, err
	}
	cfg, err := p.load(location)
	if err != nil {
		return nil, err
	}
	accounts, err := gateway.OpenAccounts(cfg, quietLogger(p, cfg))
	if err != nil {
		return nil, usageError{err, nil}
	}
	return accounts, accounts.Run(c.Context())
}

func (p *program) listAccounts(c *cobra.Command) error {
	accounts, err := p.openAccounts(c)
	if err != nil {
		return err
	}
	all, err := accounts.List(c.Context())
	if err != nil {
		return fmt.Errorf("account: %w", err)
	}
	return writeAccounts(printable{p.stdout}, all)
}

// writeAccounts writes a table of accounts.
func writeAccounts(out io.Writer, all []account.Account) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAPI\tSCHEME\tSERVER\tISSUER\tSUBJECT\tCONNECTED\tSCOPES")
	for _, a := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, a.API, cmp.Or(a.Scheme, "-"), cmp.Or(a.Server, "-"), a.Issuer, a.Subject, a.Connected.UTC().Format(time.RFC3339), strings.Join(a.Scopes, " "))
	}
	return w.Flush()
}

func (p *program) revokeAccounts(c *cobra.Command, match *account.Account) error {
	if match.ID+match.API+match.Issuer+match.Subject == "" {
		return usageError{errors.New("account revoke: say which accounts with --id, --api, --issuer or --subject"), c}
	}
	accounts, err := p.openAccounts(c)
	if err != nil {
		return err
	}
	is := func(want, got string) bool { return want == "" || want == got }
	done, err := accounts.Revoke(c.Context(), func(a *account.Account) bool {
		return is(match.ID, a.ID) && is(match.API, a.API) && is(match.Issuer, a.Issuer) && is(match.Subject, a.Subject)
	})
	for _, r := range done {
		at := "not at the service, which has no revoke_url"
		switch {
		case r.AtService:
			at = "also at the service"
		case r.Err != nil:
			at = "not at the service: " + r.Err.Error()
		}
		fmt.Fprintf(printable{p.stdout}, "%s: %s of %s is revoked here, %s\n", r.Account.API, r.Account.Subject, r.Account.Issuer, at)
	}
	switch {
	case err != nil:
		return fmt.Errorf("account: %w", err)
	case len(done) == 0:
		return errors.New("account revoke: no account matches")
	}
	return nil
}
