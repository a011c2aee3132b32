# The labs there are, listed explicitly: name -> modules.
{
  kata-hlf = [ ./kata-hlf ];
  mtls = [ ./mtls ];
}
