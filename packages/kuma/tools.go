//go:build tools

package tools

import (
	_ "github.com/kumahq/kuma/app/kuma-cp"
	_ "github.com/kumahq/kuma/app/kuma-dp"
	_ "github.com/kumahq/kuma/app/kumactl"
)
