// hardhat does not start without a configuration file.
export default {};
