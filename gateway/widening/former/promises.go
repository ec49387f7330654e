package former

import (
	"drawbridge/config"
	"drawbridge/gateway/plan"
)

// Promises are what annotations tell clients that calls don't do. Clients let such calls pass without a question.
type Promises uint8

// The promises.
const (
	ReadOnly       Promises = 1 << iota // calls change nothing
	NotDestructive                      // calls replace and remove nothing
	ClosedWorld                         // calls reach nothing but the service
)

// promisesOf returns the promises of the settings of an operation of a method.
func promisesOf(method string, set *config.Settings) (p Promises) {
	a := plan.NewAnnotations(method, set)
	if a.ReadOnly {
		p |= ReadOnly
	}
	if !a.Destructive {
		p |= NotDestructive
	}
	if !a.OpenWorld {
		p |= ClosedWorld
	}
	return p
}

// setPromises notes what an operation of a method promises with settings.
func (a *Access) setPromises(method string, set *config.Settings) {
	a.Promises, a.ByMethod = promisesOf(method, set), promisesOf(method, &config.Settings{})
}

// promisesMore reports whether annotations promise what they did not promise before. A promise that a new method makes, and the old one
// did not, is that of the document.
func (a *Access) promisesMore(was *Access) bool {
	byMethod := a.ByMethod &^ was.ByMethod
	return a.Promises&^was.Promises&^byMethod != 0
}
