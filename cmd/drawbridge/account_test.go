package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/account"
)

// TestAccountTable: the table tells the accounts of one user at two servers, and for two security schemes, apart.
func TestAccountTable(t *testing.T) {
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	if err := writeAccounts(&out, []account.Account{
		{ID: "01", API: "shop", Server: `"acme"`, Issuer: "https://id.example.com", Subject: "alice", Connected: at, Scopes: []string{"read", "write"}},
		{ID: "02", API: "wiki", Scheme: "oauth", Issuer: "https://id.example.com", Subject: "alice", Connected: at},
	}); err != nil {
		t.Fatal(err)
	}
	want := `ID  API   SCHEME  SERVER  ISSUER                  SUBJECT  CONNECTED             SCOPES
01  shop  -       "acme"  https://id.example.com  alice    2026-07-28T12:00:00Z  read write
02  wiki  oauth   -       https://id.example.com  alice    2026-07-28T12:00:00Z  
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
