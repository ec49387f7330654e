package auth

import "testing"

// TestGroupOfToken: a principal comes out of its token with the group that its claims give it.
func TestGroupOfToken(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		o.Groups = []Group{{Name: "other", Clients: []string{"x"}}, {Name: "gold", Claims: map[string][]string{"tier": {"gold"}}}}
	})
	p, err := h.guard.authenticate(t.Context(), credential{token: h.keyA.token(h.a.url, h.now, map[string]any{"sub": "alice", "tier": "gold"})})
	if err != nil {
		t.Fatal(err)
	}
	if n, member, ok := p.Group(); n != 1 || member != "gold|"+h.a.url+"|alice" || !ok {
		t.Errorf("%d %q %t", n, member, ok)
	}
}

// TestGroups: a principal belongs to the first group of which all fits, to the letter.
func TestGroups(t *testing.T) {
	g := &Guard{groups: []Group{
		{Name: "client", Clients: []string{"acme", "acme-2"}},
		{Name: "issuer and subject", Issuers: []string{"https://b"}, Subjects: []string{"alice"}},
		{Name: "claim", Claims: map[string][]string{"tier": {"gold", "17", "true"}}},
		{Name: "pointer", Claims: map[string][]string{"/org/a~1b": {"acme"}, "roles": {"admin", "3"}}},
		{Name: "later", Clients: []string{"acme"}},
	}}
	for _, tt := range []struct {
		name   string
		p      Principal
		claims string
		want   int // -1: none
		member string
	}{
		{"a client", Principal{Issuer: "https://a", ClientID: "acme-2", Subject: "x"}, `{}`, 0, "client|https://a|x"},
		{"a client alone", Principal{Issuer: "https://a", ClientID: "acme"}, `{}`, 0, "client|https://a#acme"},
		{"another case", Principal{Issuer: "https://a", ClientID: "Acme"}, `{}`, -1, ""},
		{"a longer name", Principal{Issuer: "https://a", ClientID: "acme-22"}, `{}`, -1, ""},
		{"an issuer's subject", Principal{Issuer: "https://b", Subject: "alice"}, `{}`, 1, "issuer and subject|https://b|alice"},
		{"another's of that name", Principal{Issuer: "https://a", Subject: "alice"}, `{}`, -1, ""},
		{"the first of two", Principal{Issuer: "https://b", Subject: "alice", ClientID: "acme"}, `{"tier":"gold"}`, 0, "client|https://b|alice"},
		{"a string", Principal{Issuer: "https://a"}, `{"tier":"g\u006fld"}`, 2, "claim|https://a#"},
		{"a number", Principal{Issuer: "https://a"}, `{"tier":17}`, 2, "claim|https://a#"},
		{"a truth value", Principal{Issuer: "https://a"}, `{"tier":true}`, 2, "claim|https://a#"},
		{"an item", Principal{Issuer: "https://a"}, `{"tier":[null,{"gold":1},"gold"]}`, 2, "claim|https://a#"},
		{"an item of an item", Principal{Issuer: "https://a"}, `{"tier":[["gold"]]}`, -1, ""},
		{"null", Principal{Issuer: "https://a"}, `{"tier":null}`, -1, ""},
		{"an object", Principal{Issuer: "https://a"}, `{"tier":{"gold":1}}`, -1, ""},
		{"another value", Principal{Issuer: "https://a"}, `{"tier":"golden"}`, -1, ""},
		{"two claims", Principal{Issuer: "https://a"}, `{"org":{"a/b":"acme"},"roles":["x",3]}`, 3, "pointer|https://a#"},
		{"one of two", Principal{Issuer: "https://a"}, `{"org":{"a/b":"acme"},"roles":["x"]}`, -1, ""},
		{"no way", Principal{Issuer: "https://a"}, `{"org":"acme","roles":["admin"]}`, -1, ""},
	} {
		g.assignGroup(&tt.p, []byte(tt.claims))
		n, member, ok := tt.p.Group()
		if !ok {
			n = -1
		}
		if n != tt.want || member != tt.member {
			t.Errorf("%s: %d %q, want %d %q", tt.name, n, member, tt.want, tt.member)
		}
	}
	if _, _, ok := (*Principal)(nil).Group(); ok {
		t.Error("nobody belongs to a group")
	}
}
