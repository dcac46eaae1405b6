#include "trunkline/base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trunkline/base/random.h"

namespace trunkline {
namespace {

using testing::HasSubstr;

TEST(ParseTime, ReadsEveryUnitExactly) {
  EXPECT_EQ(ParseTime("1 ps")->ps(), 1);
  EXPECT_EQ(ParseTime("2ns")->ps(), 2'000);
  EXPECT_EQ(ParseTime("1.5 us")->ps(), 1'500'000);
  EXPECT_EQ(ParseTime("0.25 ms")->ps(), 250'000'000);
  EXPECT_EQ(ParseTime(" 3 s ")->ps(), 3'000'000'000'000);
  EXPECT_EQ(ParseTime("2 µs")->ps(), 2'000'000);
  EXPECT_EQ(ParseTime("1 min")->ps(), 60'000'000'000'000);
  EXPECT_EQ(ParseTime("1.000001 us")->ps(), 1'000'001);
  EXPECT_EQ(ParseTime("5e-1 us")->ps(), 500'000);
  EXPECT_EQ(ParseTime("100 d")->ps(), 8'640'000'000'000'000'000);
  EXPECT_EQ(ParseTime("0 s")->ps(), 0);
}

TEST(ParseTime, RefusesWhatIsNoTimeAndSaysWhy) {
  EXPECT_THAT(ParseTime("5").error().message, HasSubstr("no unit"));
  EXPECT_THAT(ParseTime("-3 us").error().message, HasSubstr("negative"));
  EXPECT_THAT(ParseTime("NaN").error().message, HasSubstr("is not a time"));
  EXPECT_THAT(ParseTime("inf s").error().message, HasSubstr("is not a time"));
  EXPECT_THAT(ParseTime("").error().message, HasSubstr("is not a time"));
  EXPECT_THAT(ParseTime("1e30 s").error().message, HasSubstr("too large"));
  EXPECT_THAT(ParseTime("101 d").error().message, HasSubstr("too large"));
  EXPECT_THAT(ParseTime("0.1 ps").error().message, HasSubstr("whole number of picoseconds"));
  EXPECT_THAT(ParseTime("1e-999999999999 s").error().message, HasSubstr("whole number"));
  EXPECT_THAT(ParseTime("1e999999999999 s").error().message, HasSubstr("too large"));
  EXPECT_THAT(ParseTime(std::string(100'000, '9') + " s").error().message, HasSubstr("too large"));
  EXPECT_THAT(ParseTime("1.5.2 s").error().message, HasSubstr("is not a time"));
  EXPECT_THAT(ParseTime("3 US").error().hint, HasSubstr("3 us"));
}

TEST(ParseTime, RefusesDigitsBeyondAnyPrecisionUnlessTheyAreZeros) {
  const std::string zeros(60, '0');
  EXPECT_EQ(ParseTime("1." + zeros + " us")->ps(), 1'000'000);
  EXPECT_THAT(ParseTime("1." + zeros + "1 us").error().message, HasSubstr("whole number"));
  EXPECT_EQ(ParseTime("1" + zeros + "e-60 s")->ps(), 1'000'000'000'000);
  EXPECT_THAT(ParseTime("1" + zeros + "1e-60 s").error().message, HasSubstr("whole number"));
}

TEST(ParseBytes, TellsDecimalFromBinaryUnits) {
  EXPECT_EQ(ParseBytes("64 KiB")->count(), 65'536);
  EXPECT_EQ(ParseBytes("64 KB")->count(), 64'000);
  EXPECT_EQ(ParseBytes("80 GB")->count(), 80'000'000'000);
  EXPECT_EQ(ParseBytes("1.5 KiB")->count(), 1'536);
  EXPECT_EQ(ParseBytes("0.0009765625 KiB")->count(), 1);
  EXPECT_EQ(ParseBytes("7 B")->count(), 7);
}

TEST(ParseBytes, RefusesBitsNegativesFractionsAndOverflow) {
  const UnitError bits = ParseBytes("400 Gb").error();
  EXPECT_THAT(bits.message, HasSubstr("'400 Gb' is not a size"));
  EXPECT_THAT(bits.hint, HasSubstr("Gb is bits"));
  EXPECT_EQ(ParseBytes("1 mb").error().hint, "did you mean 1 MB?");
  EXPECT_THAT(ParseBytes("-3 KiB").error().message, HasSubstr("negative"));
  EXPECT_THAT(ParseBytes("0.3 KiB").error().message, HasSubstr("whole number of bytes"));
  EXPECT_EQ(ParseBytes("1 EiB")->count(), std::int64_t{1} << 60);
  EXPECT_THAT(ParseBytes("8 EiB").error().message, HasSubstr("too large"));
  EXPECT_THAT(ParseBytes("4096").error().message, HasSubstr("no unit"));
  EXPECT_THAT(ParseBytes("3 GB/s").error().hint, HasSubstr("is a rate"));
}

TEST(ParseRate, ReadsBitsAndBytes) {
  EXPECT_EQ(ParseRate("400 Gb/s")->bits_per_second(), 400'000'000'000);
  EXPECT_EQ(ParseRate("25 GB/s")->bits_per_second(), 200'000'000'000);
  EXPECT_EQ(ParseRate("400Gbps")->bits_per_second(), 400'000'000'000);
  EXPECT_EQ(ParseRate("1 KiB/s")->bits_per_second(), 8'192);
  EXPECT_EQ(ParseRate("0.125 B/s")->bits_per_second(), 1);
}

TEST(ParseRate, RefusesMisspeltAndZeroRates) {
  EXPECT_THAT(ParseRate("40OG").error().message, HasSubstr("'40OG' is not a rate"));
  EXPECT_THAT(ParseRate("400 Gb").error().hint, HasSubstr("400 Gb/s"));
  EXPECT_THAT(ParseRate("400 GB").error().hint, HasSubstr("400 GB/s"));
  EXPECT_THAT(ParseRate("400").error().message, HasSubstr("no unit"));
  EXPECT_THAT(ParseRate("0 Gb/s").error().message, HasSubstr("rate of zero"));
  EXPECT_THAT(ParseRate("400 gb/s").error().hint, HasSubstr("400 Gb/s or 400 GB/s"));
  EXPECT_THAT(ParseRate("1e30 Gb/s").error().message, HasSubstr("too large"));
}

TEST(ParseFlopRate, ReadsPeaks) {
  EXPECT_DOUBLE_EQ(ParseFlopRate("989 TFLOP/s")->per_second(), 989e12);
  EXPECT_DOUBLE_EQ(ParseFlopRate("989.4 TFLOPS")->per_second(), 989.4e12);
  EXPECT_THAT(ParseFlopRate("989").error().message, HasSubstr("no unit"));
  EXPECT_THAT(ParseFlopRate("1e30 FLOP/s").error().message, HasSubstr("too large"));
  EXPECT_THAT(ParseFlopRate("0 TFLOP/s").error().message, HasSubstr("zero"));
}

TEST(ParseNcclTestsSize, KeepsThatToolsSuffixes) {
  EXPECT_EQ(ParseNcclTestsSize("8")->count(), 8);
  EXPECT_EQ(ParseNcclTestsSize("64K")->count(), 65'536);
  EXPECT_EQ(ParseNcclTestsSize("1m")->count(), 1'048'576);
  EXPECT_EQ(ParseNcclTestsSize("8G")->count(), 8'589'934'592);
  EXPECT_THAT(ParseNcclTestsSize("8 GiB").error().message, HasSubstr("is not a size"));
  EXPECT_THAT(ParseNcclTestsSize("-8").error().message, HasSubstr("is not a size"));
  EXPECT_THAT(ParseNcclTestsSize("").error().message, HasSubstr("is not a size"));
  EXPECT_THAT(ParseNcclTestsSize("1e30").error().message, HasSubstr("too large"));
}

TEST(ToString, WritesTheShortestExactText) {
  EXPECT_EQ(ToString(Time::Picoseconds(1'500'000)), "1.5 us");
  EXPECT_EQ(ToString(Time::Picoseconds(1'234'567'890'123)), "1.234567890123 s");
  EXPECT_EQ(ToString(Time()), "0 s");
  EXPECT_EQ(ToString(Bytes(65'536)), "64 KiB");
  EXPECT_EQ(ToString(Bytes(80'000'000'000)), "80 GB");
  EXPECT_EQ(ToString(Bytes(1'001)), "1001 B");
  EXPECT_EQ(ToString(Rate::GigabitsPerSecond(400)), "400 Gb/s");
  EXPECT_EQ(ToString(Rate::GigabytesPerSecond(25)), "200 Gb/s");
}

TEST(ToString, IsReadBackUnchanged) {
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto value = static_cast<std::int64_t>(Draw(1, 0, i) >> (1 + Below(Draw(1, 1, i), 63)));
    const auto ps =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(value) % 8'640'000'000'000'000'000U);
    EXPECT_EQ(ParseTime(ToString(Time::Picoseconds(ps)))->ps(), ps);
    EXPECT_EQ(ParseBytes(ToString(Bytes(value)))->count(), value);
    EXPECT_EQ(ParseRate(ToString(Rate::BitsPerSecond(value + 1)))->bits_per_second(), value + 1);
  }
}

TEST(Humanize, RoundsToFourDigitsInTheFittingUnit) {
  EXPECT_EQ(Humanize(Time::Picoseconds(1'234'400'000)), "1.234 ms");
  EXPECT_EQ(Humanize(Time::Picoseconds(999'999'999)), "1 ms");
  EXPECT_EQ(Humanize(Time()), "0 s");
  EXPECT_EQ(Humanize(Time::Picoseconds(-1'500)), "-1.5 ns");
  EXPECT_EQ(Humanize(Bytes(81'925'243)), "78.13 MiB");
  EXPECT_EQ(Humanize(Bytes(1'048'575)), "1 MiB");
  EXPECT_EQ(Humanize(Rate::BitsPerSecond(389'360'000'000)), "48.67 GB/s");
  EXPECT_EQ(Humanize(FlopRate(412.34e12)), "412.3 TFLOP/s");
  EXPECT_EQ(Humanize(Flops(4.2e21)), "4.2 ZFLOP");
  EXPECT_EQ(Humanize(Time::FromSeconds(12'345)), "12345 s");
}

TEST(TransferTime, IsTheCeilingOfTheExactQuotient) {
  // 450 GB/s is 2.22... ps a byte.
  EXPECT_EQ(TransferTime(Bytes(1), Rate::GigabytesPerSecond(450)).ps(), 3);
  EXPECT_EQ(TransferTime(Bytes(9), Rate::GigabytesPerSecond(450)).ps(), 20);
  EXPECT_EQ(TransferTime(Bytes(0), Rate::GigabitsPerSecond(1)).ps(), 0);
  EXPECT_EQ(TransferTime(Bytes(8LL << 30), Rate::GigabitsPerSecond(400)).ps(), 171'798'691'840);
}

TEST(TimeDeathTest, RefusesToOverflow) {
  EXPECT_EXIT((void)(Time::Max() + Time::Picoseconds(1)), testing::ExitedWithCode(70),
              "simulated time overflows");
  EXPECT_EXIT((void)(Time::Picoseconds(INT64_MIN) - Time::Picoseconds(1)),
              testing::ExitedWithCode(70), "simulated time overflows");
  EXPECT_EXIT((void)(Bytes(INT64_MIN) - Bytes(1)), testing::ExitedWithCode(70),
              "byte count overflows");
  EXPECT_EXIT((void)TransferTime(Bytes(INT64_MAX), Rate::BitsPerSecond(1)),
              testing::ExitedWithCode(70), "outlasts the horizon");
}

}  // namespace
}  // namespace trunkline
