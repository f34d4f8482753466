using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;

/// The page of the guide: its program is the one that is compiled and run here, and what it shows is what that records.
static class GuideTests
{
    static string Page => File.ReadAllText(Path.Combine(Recorded.Top, "docs", "guide", "dotnet.md"));

    // The lines of all blocks of a language.
    static List<string> Blocks(string language) => Page.Split(["```"], StringSplitOptions.None).Where((_, i) => i % 2 == 1).Where(block => block.StartsWith(language + "\n")).Select(block => block.Substring(language.Length + 1)).ToList();

    public static void TheProgramOfThePageIsTheExample()
    {
        string example = File.ReadAllText(Path.Combine(Recorded.Top, "dotnet", "examples", "Shop", "Shop.cs"));
        Check.That(Blocks("csharp").Contains(example), "docs/guide/dotnet.md does not have dotnet/examples/Shop/Shop.cs as it is");
    }

    public static void ThePageShowsWhatIsRecorded()
    {
        string[] shown = Blocks("console").SelectMany(block => block.Split('\n')).Where(line => line.Contains(" dotnet[")).ToArray();
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("Example").File);
        Check.Same(found.Count, shown.Length, "records");
        for (int i = 0; i < shown.Length; ++i)
        {
            string text = (string)found[i]["message"];
            // Times differ; the stack of the assertion is long and depends on the runtime.
            int cut = new[] { text.IndexOf("done ", StringComparison.Ordinal), text.IndexOf(" stack=", StringComparison.Ordinal), text.IndexOf(" of 0 ", StringComparison.Ordinal) }.Where(at => at >= 0).DefaultIfEmpty(text.Length).Min();
            if (text.StartsWith("silverpoint: ")) cut = "silverpoint: replaced the default listener of Trace".Length;
            Check.That(shown[i].Contains(" " + text.Substring(0, cut)), "the page shows\n  " + shown[i] + "\nrecorded is\n  " + text);
        }
    }

    public static void TheConfigurationOfThePageIsRead()
    {
        string own = File.ReadAllText(Path.Combine(Recorded.Top, "dotnet", "tests", "Silverpoint.Tests", "app.config"));
        foreach (string line in Blocks("xml").Single().Split('\n')) Check.That(own.Contains(line.Trim()), "app.config of the tests does not have the page's line: " + line);
    }
}

static partial class Programs
{
    public static int Example(string[] arguments)
    {
        Assembly.Load("Shop").EntryPoint.Invoke(null, null);
        return 0;
    }
}
