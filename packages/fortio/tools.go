//go:build tools

package tools

import (
	_ "fortio.org/fortio"
)
