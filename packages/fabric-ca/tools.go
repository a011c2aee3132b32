//go:build tools

package tools

import (
	_ "github.com/hyperledger/fabric-ca/cmd/fabric-ca-client"
	_ "github.com/hyperledger/fabric-ca/cmd/fabric-ca-server"
)
