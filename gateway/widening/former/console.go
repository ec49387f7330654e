package former

import (
	"slices"

	"drawbridge/config"
)

// Console is who may do what in the console. While it is off, nobody may do anything.
type Console struct {
	Views    []string `json:"views,omitempty"`    // who looks at what is served
	Operates []string `json:"operates,omitempty"` // who changes it, and tries tools
	Provider string   `json:"provider,omitempty"` // digest of who says which people there are
	Bodies   bool     `json:"bodies,omitempty"`   // arguments and answers of calls are shown
}

func consoleOf(a *config.Admin) *Console {
	s := &Console{}
	if !a.ConsoleOn() {
		return s
	}
	s.Bodies = a.Console.ShowBodies
	if !a.Token.IsZero() {
		s.Operates = append(s.Operates, "who has admin.token")
	}
	for _, t := range a.Console.Tokens {
		who := "who has the token of " + t.Name
		if t.Role == config.ConsoleOperate {
			s.Operates = append(s.Operates, who)
		} else {
			s.Views = append(s.Views, who)
		}
	}
	o := a.Console.OIDC
	if o == nil {
		return s
	}
	s.Provider = digest(encode([]string{o.Issuer.String(), o.ClientID, o.RolesClaim, o.CAFile.String()}))
	for _, value := range o.Roles.View {
		s.Views = append(s.Views, "who has "+o.RolesClaim+" "+value)
	}
	for _, value := range o.Roles.Operate {
		s.Operates = append(s.Operates, "who has "+o.RolesClaim+" "+value)
	}
	return s
}

// console compares who may do what in the console. The record of an earlier version does not say.
func (w *comparison) console(old, new *Console) {
	if old == nil {
		return
	}
	same := func(a, b string) bool { return a == b }
	w.added("admin.console", "%s can look at what is served", slices.Concat(old.Views, old.Operates), new.Views, same)
	w.added("admin.console", "%s can change what is served, and call tools", old.Operates, new.Operates, same)
	w.when(old.Provider != "" && new.Provider != "" && old.Provider != new.Provider, "admin.console.oidc", "another provider says who signs in to the console")
	w.when(!old.Bodies && new.Bodies, "admin.console.show_bodies", "operators see arguments and answers of calls")
}
