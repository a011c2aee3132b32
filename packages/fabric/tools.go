//go:build tools

package tools

import (
	_ "github.com/hyperledger/fabric/cmd/configtxgen"
	_ "github.com/hyperledger/fabric/cmd/cryptogen"
	_ "github.com/hyperledger/fabric/cmd/orderer"
	_ "github.com/hyperledger/fabric/cmd/osnadmin"
	_ "github.com/hyperledger/fabric/cmd/peer"
)
