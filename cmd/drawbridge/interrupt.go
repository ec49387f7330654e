package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// interruptible lets a signal end a command that serves nothing, whichever of those that the program listens for. The
// command is told first; the next signal does not wait for it. The exit code is what a shell gives to one that was killed.
func (p *program) interruptible(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		c.SetContext(ctx)
		ended := make(chan struct{})
		var err error // after ended
		go func() {
			defer close(ended)
			err = run(c, args)
		}()
		var sig os.Signal
		select {
		case <-ended:
			return err
		case sig = <-p.signals:
		}
		cancel()
		select {
		case <-ended:
		case <-p.signals:
		case <-time.After(interruptGrace):
		}
		return exitError(128 + int(number(sig)))
	}
}

// interruptGrace is how long a command that was interrupted may take to end. Some of what it waits for knows nothing of a context, such as the
// other end of a named pipe.
const interruptGrace = time.Second

// number is that of a signal; all that the program listens for have one.
func number(sig os.Signal) syscall.Signal {
	n, _ := sig.(syscall.Signal)
	return n
}

// letGo gives the signals that end the program back to the system, for which one is enough. It is called when nobody listens for them any more: what is
// left to do then, such as to write the last lines of a log, may wait for a disk or a reader.
func letGo() { signal.Reset(os.Interrupt, syscall.SIGTERM) }
