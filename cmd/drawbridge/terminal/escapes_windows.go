package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes a console obey control sequences, which older ones print. One that can't is left as it is.
func enableEscapes(f *os.File) {
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) == nil {
		_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
}
