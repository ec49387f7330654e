package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// interruptible makes a signal end a command that does not serve. The context of the command is
// canceled first; a second signal does not wait for it. The exit code is that of a process killed
// by the signal.
func (p *program) interruptible(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		c.SetContext(ctx)
		ended := make(chan struct{})
		var err error // set when ended is closed
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

// interruptGrace is the time that an interrupted command has to end. Some of its waits do not
// observe a context, such as those for a disk that hangs.
const interruptGrace = time.Second

// number returns the number of a signal; all signals that the program handles have one.
func number(sig os.Signal) syscall.Signal {
	n, _ := sig.(syscall.Signal)
	return n
}

// resetSignals restores the default handling of the signals that end the program. It is called when
// they are no longer received: the remaining work, such as writing the last log lines, may wait for
// a disk or a reader.
func resetSignals() { signal.Reset(os.Interrupt, syscall.SIGTERM) }
