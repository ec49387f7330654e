package gateway

import (
	"drawbridge/gateway/console"
	"drawbridge/openapi/answer"
)

// newConsole returns the console, which is off unless the configuration in use turns it on.
func (g *Gateway) newConsole() *console.Console {
	return console.New(console.Options{
		Config: g.Config, Gateway: g, Trials: trials{g.inProcess}, Clean: answer.CleanData, Log: g.log, Version: g.o.Version, Now: g.o.now,
	})
}
